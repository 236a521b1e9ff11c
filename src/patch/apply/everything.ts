import { compareUtf8 } from '../../std/compare-utf8.js';
import { leaf, self, type FieldSet, type OpenFieldSet } from './field-set.js';
import { compareItems, fieldElement, itemElement } from './path-element.js';
import { atomicJson, type FieldSchema, type ListSchema, type MapSchema, type Schema } from './schema.js';

/** The node of a value that is owned as a whole: with all fields inside it. Throws UntypedItem. */
export function everything(schema: Schema, value: unknown): FieldSet {
  if (typeof value !== 'object' || value === null) return leaf;
  if (Array.isArray(value)) {
    const { list } = schema;
    return !list || list.kind === 'atomic' || value.length === 0 ? leaf : everyItem(list, value as unknown[]);
  }
  const { map } = schema;
  return !map || map.isAtomic ? leaf : everyField(map, value as Readonly<Record<string, unknown>>);
}

function everyField(map: MapSchema, value: Readonly<Record<string, unknown>>): FieldSet {
  const out: OpenFieldSet = { [self]: leaf };
  const fields: FieldSchema[] = [];
  let others: string[] | undefined;
  for (const name in value) {
    if (value[name] === undefined) continue;
    const field = map.fields.get(name);
    if (field) fields.push(field);
    else (others ??= []).push(name);
  }
  for (const field of map.constant) if (value[field.name] === undefined) fields.push(field);
  orderByRank(fields);
  if (fields.length === 0 && !others) return leaf;
  if (!others) {
    for (const field of fields) out[field.element] = everything(field.schema, value[field.name] ?? field.zero);
    return out;
  }
  const schema = map.values ?? atomicJson;
  for (const field of fields) others.push(field.name);
  if (others.length > 1) others.sort(compareUtf8);
  for (const name of others) {
    const field = map.fields.get(name);
    out[field?.element ?? fieldElement(name)] = everything(field?.schema ?? schema, value[name] ?? field?.zero);
  }
  return out;
}

/** Insertion sort: most objects have their fields nearly in order. */
function orderByRank(fields: FieldSchema[]): void {
  if (fields.length > insertionMax) {
    fields.sort((a, b) => a.rank - b.rank);
    return;
  }
  for (let next = 1; next < fields.length; next++) {
    const field = fields[next]!;
    let at = next;
    for (; at > 0 && fields[at - 1]!.rank > field.rank; at--) fields[at] = fields[at - 1]!;
    fields[at] = field;
  }
}

/** From this length on, sorting is faster than moving single fields. */
const insertionMax = 32;

function everyItem(list: ListSchema, items: readonly unknown[]): FieldSet {
  const out: OpenFieldSet = { [self]: leaf };
  for (const item of orderedItems(list, items)) {
    const element = itemElement(list, item);
    out[element] = out[element] === undefined ? (list.kind === 'set' ? leaf : everything(list.of, item)) : leaf;
  }
  return out;
}

function orderedItems(list: ListSchema, items: readonly unknown[]): readonly unknown[] {
  for (let i = 1; i < items.length; i++) {
    if (compareItems(list, items[i - 1], items[i]) > 0) return [...items].sort((a, b) => compareItems(list, a, b));
  }
  return items;
}
