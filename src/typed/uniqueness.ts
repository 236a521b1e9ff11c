import { fieldError, type FieldError } from '../machinery/field-error.js';
import { asFields } from '../machinery/fields.js';
import type { JsonValue } from '../machinery/kube-object.js';
import { valueKey } from '../machinery/value-key.js';

/** Identity of the items of a list: by the values of key fields, or by the whole item. */
export interface ListIdentity {
  readonly type: 'set' | 'map';
  readonly keys: readonly string[];
}

/** Reports every item that occurred before, with its index. */
export function uniquenessErrors(list: readonly JsonValue[], identity: ListIdentity, at: string): FieldError[] {
  return duplicatesIn(list, identity).map((index) => fieldError.duplicate(`${at}[${index}]`, list[index]));
}

/** The indexes of items that equal an earlier one. */
function duplicatesIn(list: readonly JsonValue[], identity: ListIdentity): number[] {
  const found: number[] = [];
  const texts = new Set<string>();
  for (const [index, item] of list.entries()) {
    const text = identityText(item, identity);
    if (texts.has(text)) found.push(index);
    else texts.add(text);
  }
  return found;
}

/** For each item, the equal one of an earlier list, if any. */
export function correlated(
  list: readonly JsonValue[],
  earlier: readonly JsonValue[],
  identity: ListIdentity,
): (JsonValue | undefined)[] {
  const byText = new Map<string, JsonValue>();
  for (const item of earlier) {
    const text = identityText(item, identity);
    if (!byText.has(text)) byText.set(text, item);
  }
  return list.map((item) => byText.get(identityText(item, identity)));
}

/** Returns a text that is equal for equal items. */
function identityText(item: JsonValue, { type, keys }: ListIdentity): string {
  if (type === 'set') return typeof item === 'object' ? `o${valueKey(item)}` : shown(item);
  const fields = asFields(item);
  let text = '';
  for (const key of keys) text += shown(Object.hasOwn(fields, key) ? fields[key] : undefined);
  return text;
}

/** With its length, so that pairs of values are unambiguous. An absent key counts as an empty one. */
function shown(value: unknown): string {
  if (typeof value === 'string') return `s${value.length}:${value}`;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return `${value};`;
  return 's0:';
}
