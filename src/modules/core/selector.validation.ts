import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, each } from '../../machinery/field-rules.js';
import { asFields, asText, asTextMap, asTexts, type Fields } from '../../machinery/fields.js';
import { validateLabelValue, validateQualifiedName } from '../../machinery/names.js';

/** A map of labels: the map is named, since its keys may be anything. */
export function validateLabelMap(labels: unknown, at: FieldPath): FieldError[] {
  return asTextMap(labels).flatMap(([key, value]) => [
    ...checked(key, at, validateQualifiedName),
    ...checked(value, at, validateLabelValue),
  ]);
}

export function validateLabelSelectorObject(selector: unknown, at: FieldPath): FieldError[] {
  const { matchLabels, matchExpressions } = asFields(selector);
  return [
    ...validateLabelMap(matchLabels, at.child('matchLabels')),
    ...each(matchExpressions, at.child('matchExpressions'), validateLabelRequirement),
  ];
}

export function validateLabelRequirement(requirement: Fields, at: FieldPath): FieldError[] {
  return [
    ...validateOperator(requirement, at),
    ...checked(asText(requirement['key']), at.child('key'), validateQualifiedName),
    ...asTexts(requirement['values']).flatMap((value, index) =>
      checked(value, at.child('values').index(index), validateLabelValue),
    ),
  ];
}

/** How many values an operator takes. */
export function validateOperator(requirement: Fields, at: FieldPath, mayCompare = false): FieldError[] {
  const values = asTexts(requirement['values']);
  const where = at.child('values');
  switch (requirement['operator']) {
    case 'In':
    case 'NotIn':
      return values.length > 0
        ? []
        : [fieldError.required(where, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0
        ? []
        : [fieldError.forbidden(where, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    case 'Gt':
    case 'Lt':
      if (mayCompare) {
        return values.length === 1
          ? []
          : [fieldError.required(where, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
      }
  }
  return [fieldError.invalid(at.child('operator'), asText(requirement['operator']), 'not a valid selector operator')];
}
