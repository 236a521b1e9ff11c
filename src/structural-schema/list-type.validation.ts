import { fieldError, type FieldError } from '../machinery/field-error.js';
import type { JsonValue } from '../machinery/kube-object.js';
import { inOrder, itemKey, keysOf, Occurrences } from './list-keys.js';
import type { SchemaNode } from './schema-node.js';
import { errorsMax } from './value-walk.js';

/** Validates that items of sets and list maps are unique. Only schemas that contain such lists are walked. */
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

/** Reports each duplicate once, at its second index. */
function duplicates(list: readonly JsonValue[], { keyOf, shown }: ItemKeys, at: string, errors: FieldError[]): void {
  if (list.length < 2) return;
  const occurrences = new Occurrences();
  for (let index = 0; index < list.length && errors.length < errorsMax; index++) {
    const item = list[index]!;
    if (occurrences.add(keyOf(item)) === 1) errors.push(fieldError.duplicate(`${at}[${index}]`, inOrder(shown(item))));
  }
}
