import { fieldError, type FieldError } from '../../../machinery/field-error.js';
import type { JsonValue } from '../../../machinery/kube-object.js';
import { inOrder, itemKey, keysOf, Sightings } from './list-keys.js';
import type { SchemaNode } from './schema-node.js';
import { errorsMax } from './value-walk.js';

/** Items of sets and of maps are there once. A walk of its own, which only lists of such types cost anything. */
export function validateListTypes(value: JsonValue, node: SchemaNode, at: string): FieldError[] {
  const errors: FieldError[] = [];
  if (node.has.keyedLists) walk(value, node, at, errors);
  return errors;
}

function walk(value: JsonValue, node: SchemaNode, at: string, errors: FieldError[]): void {
  if (!node.has.keyedLists || typeof value !== 'object' || value === null || errors.length >= errorsMax) return;
  if (Array.isArray(value)) {
    if (node.listType === 'set') duplicates(value, whole, at, errors);
    if (node.listType === 'map') validateMap(value, node.keys, at, errors);
    const { items } = node;
    if (items?.has.keyedLists) value.forEach((item, index) => walk(item, items, `${at}[${index}]`, errors));
    return;
  }
  for (const field in value) {
    const property = node.properties.get(field);
    if (property) walk(value[field]!, property, at === '' ? field : `${at}.${field}`, errors);
    else if (node.additional) walk(value[field]!, node.additional, `${at}[${field}]`, errors);
  }
}

function validateMap(list: readonly JsonValue[], keys: readonly string[], at: string, errors: FieldError[]): void {
  const stranger = list.findIndex((item) => typeof item !== 'object' || Array.isArray(item));
  if (stranger >= 0) {
    const message = 'must be an object for an array of list-type map';
    errors.push(fieldError.invalid(`${at}[${stranger}]`, inOrder(list[stranger]!), message));
    return;
  }
  duplicates(list, { keyOf: (item) => itemKey(item, keys), shown: (item) => keysOf(item, keys) }, at, errors);
}

interface ItemKeys {
  readonly keyOf: (item: JsonValue) => JsonValue | undefined;
  readonly shown: (item: JsonValue) => JsonValue;
}

const whole: ItemKeys = { keyOf: (item) => item, shown: (item) => item };

/** Whatever is there several times is told once, of its second place. */
function duplicates(list: readonly JsonValue[], { keyOf, shown }: ItemKeys, at: string, errors: FieldError[]): void {
  if (list.length < 2) return;
  const sightings = new Sightings();
  for (let index = 0; index < list.length && errors.length < errorsMax; index++) {
    const item = list[index]!;
    if (sightings.see(keyOf(item)) === 1) errors.push(fieldError.duplicate(`${at}[${index}]`, inOrder(shown(item))));
  }
}
