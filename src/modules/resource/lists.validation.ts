import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { duplicates } from '../../machinery/field-rules.js';
import { asItems, asText, asTexts, type Fields } from '../../machinery/fields.js';

type ItemRule<T> = (item: T, at: FieldPath) => FieldError[];

export function validateList(list: unknown, max: number, at: FieldPath, rule: ItemRule<Fields>): FieldError[] {
  const items = asItems(list);
  return [...tooMany(items.length, max, at), ...items.flatMap((item, index) => rule(item, at.index(index)))];
}

/** A list whose items are told apart by one of their fields. */
export function validateKeyedList(
  list: unknown,
  { max, key, at }: { readonly max: number; readonly key: string; readonly at: FieldPath },
  rule: ItemRule<Fields>,
): FieldError[] {
  return [
    ...validateList(list, max, at, rule),
    ...duplicates(
      asItems(list),
      (item) => asText(item[key]),
      (index) => at.index(index),
    ),
  ];
}

export function validateTexts(list: unknown, max: number, at: FieldPath, rule: ItemRule<string>): FieldError[] {
  const texts = asTexts(list);
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
  return count > max ? [fieldError.tooMany(String(at), count, max)] : [];
}
