import { isEmpty, leaf, noFields, self, type FieldSet, type OpenFieldSet } from './field-set.js';
import { fieldElement, itemElement } from './path-element.js';
import { formOf, type ListSchema, type MapSchema, type Schema } from './schema.js';

/**
 * The fields that a configuration specifies: its leaves, the items of its lists, the keys of its maps; not the structs
 * that contain them. Unsorted. Throws UntypedItem.
 */
export function fieldsOf(schema: Schema, value: unknown): FieldSet {
  const set = below(schema, value);
  return set && !isEmpty(set) ? set : noFields;
}

/** The node of a value; undefined if there is nothing to own at or below it. */
function below(schema: Schema, value: unknown): FieldSet | undefined {
  switch (formOf(schema, value)) {
    case 'map':
      return schema.map!.isAtomic ? leaf : fieldsBelow(schema.map!, value);
    case 'list':
      return schema.list!.kind === 'atomic' ? leaf : itemsBelow(schema.list!, value);
    case 'scalar':
      return leaf;
  }
}

function fieldsBelow(map: MapSchema, value: unknown): FieldSet | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const out: OpenFieldSet = {};
  for (const [name, part] of Object.entries(value as Record<string, unknown>)) {
    if (part === undefined) continue;
    const field = map.fields.get(name);
    const schema = field?.schema ?? map.values;
    const node = schema ? below(schema, part) : undefined;
    const joins = !field || part === null || isEmptyObject(part);
    const whole = joins ? withSelf(node) : node;
    if (whole) out[field?.element ?? fieldElement(name)] = whole;
  }
  return isEmpty(out) ? undefined : out;
}

function itemsBelow(list: ListSchema, value: unknown): FieldSet | undefined {
  if (!Array.isArray(value)) return undefined;
  const out: OpenFieldSet = {};
  for (const item of value as unknown[]) {
    const element = itemElement(list, item);
    out[element] = out[element] === undefined ? withSelf(below(list.of, item)) : leaf;
  }
  return isEmpty(out) ? undefined : out;
}

function withSelf(node: FieldSet | undefined): FieldSet {
  if (!node || isEmpty(node)) return leaf;
  return node[self] ? node : { [self]: leaf, ...node };
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}
