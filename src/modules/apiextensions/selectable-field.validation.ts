import type { JSONSchemaProps, SelectableField } from '../../catalog/types/apiextensions.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { required } from '../../machinery/field-rules.js';
import type { Fields } from '../../machinery/fields.js';
import { findField } from '../../structural-schema/field-path.js';

const selectableFieldsMax = 8;
const simpleTypes = ['string', 'boolean', 'integer'];

/** Validates `selectableFields` of a version. */
export function validateSelectableFields(
  fields: readonly SelectableField[] = [],
  schema: Fields | undefined,
  at: FieldPath,
): FieldError[] {
  if (fields.length === 0) return [];
  if (!schema) return [fieldError.invalid(at, '', 'may only be set when validations.schema is included')];
  const seen = new Set<string>();
  const errors = fields.flatMap(({ jsonPath = '' }, index) => validateOne(jsonPath, at.index(index), schema, seen));
  if (seen.size > selectableFieldsMax) errors.push(fieldError.tooMany(at, seen.size, selectableFieldsMax));
  return errors;
}

function validateOne(jsonPath: string, at: FieldPath, schema: Fields, seen: Set<string>): FieldError[] {
  const pathAt = at.child('jsonPath');
  if (jsonPath === '') return required(jsonPath, pathAt);
  const found = findField(jsonPath, schema, { allowsBrackets: false });
  const invalid = (message: string) => fieldError.invalid(pathAt, jsonPath, message);
  if ('problem' in found) return [invalid(`is an invalid path: ${found.problem}`)];
  const errors: FieldError[] = [];
  if (found.names[0] === 'metadata') errors.push(invalid('must not point to fields in metadata'));
  const { type = '' }: JSONSchemaProps = found.schema;
  if (!simpleTypes.includes(type)) {
    errors.push(
      invalid(
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      ),
    );
  }
  const key = found.names.join('.');
  if (seen.has(key)) errors.push(fieldError.duplicate(pathAt, jsonPath));
  seen.add(key);
  return errors;
}
