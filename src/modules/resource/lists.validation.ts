import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { duplicates } from '../../machinery/field-rules.js';
import { asText } from '../../machinery/fields.js';
import type { Steps } from '../../std/steps.js';

type ItemRule<T> = (item: T, at: FieldPath) => FieldError[];
type ItemRuleInSteps<T> = (item: T, at: FieldPath) => FieldError[] | Steps<FieldError[]>;
type List<T> = readonly T[] | null | undefined;

export function validateList<T extends object>(
  list: List<T>,
  max: number,
  at: FieldPath,
  rule: ItemRule<T>,
): FieldError[] {
  const items = list ?? [];
  return [...tooMany(items.length, max, at), ...items.flatMap((item, index) => rule(item, at.index(index)))];
}

/** Validates a list whose items take long to validate. */
export function* validateListInSteps<T extends object>(
  list: List<T>,
  max: number,
  at: FieldPath,
  rule: ItemRuleInSteps<T>,
): Steps<FieldError[]> {
  const items = list ?? [];
  const errors = tooMany(items.length, max, at);
  for (const [index, item] of items.entries()) {
    yield;
    const found = rule(item, at.index(index));
    for (const error of Array.isArray(found) ? found : yield* found) errors.push(error);
  }
  return errors;
}

interface Keyed<T> {
  readonly max: number;
  readonly key: keyof T & string;
  readonly at: FieldPath;
}

/** Validates a list whose items must differ in the field `key`. */
export function validateKeyedList<T extends object>(list: List<T>, keyed: Keyed<T>, rule: ItemRule<T>): FieldError[] {
  return [...validateList(list, keyed.max, keyed.at, rule), ...duplicateKeys(list, keyed)];
}

export function* validateKeyedListInSteps<T extends object>(
  list: List<T>,
  keyed: Keyed<T>,
  rule: ItemRuleInSteps<T>,
): Steps<FieldError[]> {
  return [...(yield* validateListInSteps(list, keyed.max, keyed.at, rule)), ...duplicateKeys(list, keyed)];
}

function duplicateKeys<T extends object>(list: List<T>, { key, at }: Keyed<T>): FieldError[] {
  return duplicates(
    list ?? [],
    (item) => asText(item[key]),
    (index) => at.index(index),
  );
}

/** Validates a list of unique strings. */
export function validateTexts(list: List<string>, max: number, at: FieldPath, rule: ItemRule<string>): FieldError[] {
  const texts = list ?? [];
  return [
    ...tooMany(texts.length, max, at),
    ...texts.flatMap((text, index) => rule(text, at.index(index))),
    ...duplicates(
      texts,
      (text) => text,
      (index) => at.index(index),
    ),
  ];
}

function tooMany(count: number, max: number, at: FieldPath): FieldError[] {
  return count > max ? [fieldError.tooMany(at, count, max)] : [];
}
