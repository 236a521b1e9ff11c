import { fieldError, type FieldError, type FieldPath } from './field-error.js';
import { asFields, type Fields } from './fields.js';
import { validateDnsSubdomain } from './names.js';
import type { Int64 } from './int64.js';

/** A validation rule: checks a value and returns errors at its path. */
type Rule<T> = (value: T, at: FieldPath, index: number) => FieldError[];

export function each<T extends object>(
  list: readonly T[] | null | undefined,
  at: FieldPath,
  ...rules: Rule<T>[]
): FieldError[];
export function each(list: unknown, at: FieldPath, ...rules: Rule<Fields>[]): FieldError[];
export function each(list: unknown, at: FieldPath, ...rules: Rule<Fields>[]): FieldError[] {
  const errors: FieldError[] = [];
  if (!Array.isArray(list)) return errors;
  for (const [index, item] of list.entries()) {
    const itemAt = at.index(index);
    for (const rule of rules) {
      const found = rule(asFields(item), itemAt, index);
      if (found.length > 0) errors.push(...found);
    }
  }
  return errors;
}

export function required(value: unknown, at: FieldPath, detail = ''): FieldError[] {
  return value === undefined || value === null || value === '' ? [fieldError.required(at, detail)] : [];
}

/** Returns an error for each problem that `check` (of a name or an address) finds. */
export function checked(value: string, at: FieldPath, check: (text: string) => string[]): FieldError[] {
  return check(value).map((message) => fieldError.invalid(at, value, message));
}

export function requiredName(value: string, at: FieldPath, check: (text: string) => string[]): FieldError[] {
  return value === '' ? required(value, at) : checked(value, at, check);
}

const pathPattern = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const pathRegex = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

/** Requires the form `example.com/name`. */
export function validateDomainPrefixedPath(text: string, at: FieldPath): FieldError[] {
  if (text === '') return required(text, at);
  const slash = text.indexOf('/');
  const [domain, rest] = [text.slice(0, slash), text.slice(slash + 1)];
  if (slash < 1 || rest === '') {
    return [fieldError.invalid(at, text, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const errors = checked(domain, at, validateDnsSubdomain);
  if (!pathRegex.test(rest)) {
    errors.push(fieldError.invalid(at, rest, `Invalid path (regex used for validation is '${pathPattern}')`));
  }
  return errors;
}

export const hasLineBreaks = (text: string): boolean => /[\n\r]/.test(text);

/** Accepts an absent value. */
export function oneOf(value: unknown, at: FieldPath, supported: readonly string[]): FieldError[] {
  if (value === undefined || value === null || supported.includes(value as string)) return [];
  return [fieldError.notSupported(at, value, supported)];
}

/** Accepts an absent value. */
export function between(value: Int64 | null | undefined, at: FieldPath, min: number, max: number): FieldError[] {
  if (value === undefined || value === null || (value >= min && value <= max)) return [];
  return [fieldError.invalid(at, value, `must be between ${min} and ${max}, inclusive`)];
}

/** Accepts an absent value. */
export function notNegative(value: Int64 | null | undefined, at: FieldPath): FieldError[] {
  if (value === undefined || value === null || value >= 0) return [];
  return [fieldError.invalid(at, value, 'must be greater than or equal to 0')];
}

/** Returns an error for every duplicate key. Empty keys are ignored. */
export function duplicates<T>(
  list: readonly T[],
  keyOf: (item: T) => string,
  at: (index: number) => FieldPath,
): FieldError[] {
  const seen = new Set<string>();
  return list.flatMap((item, index) => {
    const key = keyOf(item);
    if (key === '') return [];
    if (seen.has(key)) return [fieldError.duplicate(at(index), key)];
    seen.add(key);
    return [];
  });
}

/** Requires a union to have at most one member: returns the first one that is set, and an error for every other. */
export function onlyOneOf<T extends object, Field extends keyof T & string>(
  value: T,
  at: FieldPath,
  fields: readonly Field[],
  tooMany: string,
): { taken: Field | undefined; errors: FieldError[] } {
  const set = fields.filter((field) => value[field] !== undefined && value[field] !== null);
  return { taken: set[0], errors: set.slice(1).map((field) => fieldError.forbidden(at.child(field), tooMany)) };
}

/** Applies to a union member that is set the rule of that member. */
export function memberErrors<T extends object, Name extends keyof T & string>(
  value: T,
  name: Name,
  at: FieldPath,
  rules: { readonly [Member in Name]: (member: NonNullable<T[Member]>, at: FieldPath) => FieldError[] },
): FieldError[] {
  const member = value[name];
  return member === undefined || member === null ? [] : rules[name](member, at.child(name));
}
