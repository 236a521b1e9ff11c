import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked } from '../../machinery/field-rules.js';
import { asFields, asItems, asText, isSet, type Fields } from '../../machinery/fields.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { validateNodeSelector } from '../core/pod/scheduling.validation.js';

/** From where devices can be reached: said in exactly one of several ways. */
export function validateNodeChoice(owner: Fields, at: FieldPath, ways: readonly string[]): FieldError[] {
  const named = (fields: readonly string[]) => fields.map((field) => `\`${field}\``).join(', ');
  const set = ways.filter((way) => isSet(owner[way]));
  const errors = set.flatMap((way) => validateWay(owner[way], way, at.child(way)));
  const message = `exactly one of ${named(ways)} is required`;
  if (set.length === 0) return [...errors, fieldError.required(String(at), message)];
  if (set.length === 1) return errors;
  return [...errors, fieldError.invalid(String(at), `{${named(set)}}`, `${message}, but multiple fields are set`)];
}

function validateWay(value: unknown, way: string, at: FieldPath): FieldError[] {
  switch (way) {
    case 'nodeName':
      return value === ''
        ? [fieldError.invalid(String(at), value, 'must be either unset or set to a non-empty string')]
        : checked(asText(value), at, nameIsDnsSubdomain);
    case 'nodeSelector':
      return validateOneTerm(asFields(value), at);
    default:
      return value === true ? [] : [fieldError.invalid(String(at), value, 'must be either unset or set to true')];
  }
}

function validateOneTerm(selector: Fields, at: FieldPath): FieldError[] {
  const { nodeSelectorTerms: terms } = selector;
  if (asItems(terms).length < 2) return validateNodeSelector(selector, at);
  const termsAt = String(at.child('nodeSelectorTerms'));
  return [
    ...validateNodeSelector(selector, at),
    fieldError.invalid(termsAt, terms, 'must have exactly one node selector term'),
  ];
}
