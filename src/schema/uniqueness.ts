import { fieldError, type FieldError } from '../machinery/field-error.js';
import { asFields } from '../machinery/fields.js';
import type { JsonValue } from '../machinery/kube-object.js';
import { valueKey } from '../machinery/value-key.js';

/** How the items of a list are told apart: by the values of some of their fields, or as they are. */
export interface ListIdentity {
  readonly type: 'set' | 'map';
  readonly keys: readonly string[];
}

/** Every item that was there before, at its place. */
export function uniquenessErrors(list: readonly JsonValue[], identity: ListIdentity, at: string): FieldError[] {
  return duplicatesIn(list, identity).map((index) => fieldError.duplicate(`${at}[${index}]`, list[index]));
}

/** The indexes of items that are the same as an earlier one. */
export function duplicatesIn(list: readonly JsonValue[], identity: ListIdentity): number[] {
  const found: number[] = [];
  const texts = new Set<string>();
  for (const [index, item] of list.entries()) {
    const text = identityText(item, identity);
    if (texts.has(text)) found.push(index);
    else texts.add(text);
  }
  return found;
}

/** For each item the one of an earlier list that is the same, where there is any. */
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

/** What tells an item from the others, in one text. */
function identityText(item: JsonValue, { type, keys }: ListIdentity): string {
  if (type === 'set') return typeof item === 'object' ? `o${valueKey(item)}` : shown(item);
  const fields = asFields(item);
  let text = '';
  for (const key of keys) text += shown(Object.hasOwn(fields, key) ? fields[key] : undefined);
  return text;
}

/** With its length, so that two values cannot look like two others. An absent key is an empty one. */
function shown(value: unknown): string {
  if (typeof value === 'string') return `s${value.length}:${value}`;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return `${value};`;
  return 's0:';
}
