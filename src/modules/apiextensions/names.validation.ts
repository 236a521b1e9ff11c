import type { CustomResourceDefinitionNames } from '../../catalog/types/apiextensions.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { validateDns1035Label } from '../../machinery/names.js';

/** Validates `spec.names` and `status.acceptedNames`. The caller requires the names that must not be empty. */
export function validateNames(names: CustomResourceDefinitionNames, at: FieldPath): FieldError[] {
  const { plural = '', singular = '', kind = '', listKind = '', shortNames = [], categories = [] } = names;
  return [
    ...label(plural, at.child('plural')),
    ...label(singular, at.child('singular')),
    ...mixedCase(kind, at.child('kind')),
    ...mixedCase(listKind, at.child('listKind')),
    ...shortNames.flatMap((name, index) => someLabel(name, at.child('shortNames').index(index))),
    ...(kind !== '' && kind === listKind
      ? [fieldError.invalid(at.child('listKind'), listKind, 'kind and listKind may not be the same')]
      : []),
    ...categories.flatMap((name, index) => someLabel(name, at.child('categories').index(index))),
  ];
}

function someLabel(name: string, at: FieldPath): FieldError[] {
  const problems = validateDns1035Label(name);
  return problems.length === 0 ? [] : [fieldError.invalid(at, name, problems.join(','))];
}

function label(name: string, at: FieldPath): FieldError[] {
  return name === '' ? [] : someLabel(name, at);
}

function mixedCase(name: string, at: FieldPath): FieldError[] {
  const problems = validateDns1035Label(name.toLowerCase());
  if (name === '' || problems.length === 0) return [];
  const message = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
  return [fieldError.invalid(at, name, message)];
}
