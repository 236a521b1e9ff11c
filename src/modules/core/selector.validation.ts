import type { NodeSelectorRequirement } from '../../catalog/types/core.v1.js';
import type { LabelSelector, LabelSelectorRequirement } from '../../catalog/types/meta.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, each } from '../../machinery/field-rules.js';
import { validateLabelValue, validateQualifiedName } from '../../machinery/names.js';

/** Validates labels. Errors are at the map, not at its keys, which may be any text. */
export function validateLabelMap(labels: Readonly<Record<string, string>> | undefined, at: FieldPath): FieldError[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...checked(key, at, validateQualifiedName),
    ...checked(value, at, validateLabelValue),
  ]);
}

export function validateLabelSelectorObject(selector: LabelSelector | null | undefined, at: FieldPath): FieldError[] {
  const { matchLabels, matchExpressions } = selector ?? {};
  return [
    ...validateLabelMap(matchLabels, at.child('matchLabels')),
    ...each(matchExpressions, at.child('matchExpressions'), validateLabelRequirement),
  ];
}

export function validateLabelRequirement(requirement: LabelSelectorRequirement, at: FieldPath): FieldError[] {
  const { key = '', values = [] } = requirement;
  return [
    ...validateOperator(requirement, at),
    ...checked(key, at.child('key'), validateQualifiedName),
    ...values.flatMap((value, index) => checked(value, at.child('values').index(index), validateLabelValue)),
  ];
}

/** Validates the operator and the number of values that it takes. Node selectors also have Gt and Lt. */
export function validateOperator(
  { operator = '', values = [] }: LabelSelectorRequirement | NodeSelectorRequirement,
  at: FieldPath,
  isNodeSelector = false,
): FieldError[] {
  const valuesAt = at.child('values');
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0
        ? []
        : [fieldError.required(valuesAt, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0
        ? []
        : [fieldError.forbidden(valuesAt, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    case 'Gt':
    case 'Lt':
      if (isNodeSelector) {
        return values.length === 1
          ? []
          : [fieldError.required(valuesAt, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
      }
  }
  return [fieldError.invalid(at.child('operator'), operator, 'not a valid selector operator')];
}
