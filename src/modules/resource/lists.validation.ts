import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { duplicates } from '../../machinery/field-rules.js';
import { asText } from '../../machinery/fields.js';

type ItemRule<T> = (item: T, at: FieldPath) => FieldError[];
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

/** Validates a list whose items must differ in the field `key`. */
export function validateKeyedList<T extends object>(
  list: List<T>,
  { max, key, at }: { readonly max: number; readonly key: keyof T & string; readonly at: FieldPath },
  rule: ItemRule<T>,
): FieldError[] {
  return [
    ...validateList(list, max, at, rule),
    ...duplicates(
      list ?? [],
      (item) => asText(item[key]),
      (index) => at.index(index),
    ),
  ];
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
