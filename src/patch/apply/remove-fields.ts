import { isEmpty, isMember, type FieldSet } from './field-set.js';
import { fieldElement, itemElement } from './path-element.js';
import { putOwn } from '../../machinery/put-own.js';
import { formOf, type ListSchema, type MapSchema, type Schema } from './schema.js';

/**
 * Removes the fields of the set and everything below them. A list or map that loses all its items stays, empty. The
 * argument is not changed. Throws UntypedItem.
 */
export function withoutFields(schema: Schema | undefined, value: unknown, fields: FieldSet): unknown {
  if (isEmpty(fields) || !schema) return value;
  switch (formOf(schema, value)) {
    case 'map':
      return objectWithout(schema.map!, value, fields);
    case 'list':
      return listWithout(schema.list!, value, fields);
    case 'scalar':
      return value;
  }
}

function objectWithout(map: MapSchema, value: unknown, fields: FieldSet): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || map.isAtomic) return {};
  const out: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(value as Record<string, unknown>)) {
    const field = map.fields.get(name);
    const node = fields[field?.element ?? fieldElement(name)];
    if (node && isMember(node)) continue;
    putOwn(out, name, node ? withoutFields(field?.schema ?? map.values, part, node) : part);
  }
  return out;
}

function listWithout(list: ListSchema, value: unknown, fields: FieldSet): unknown {
  if (!Array.isArray(value) || list.kind === 'atomic') return [];
  const out: unknown[] = [];
  for (const item of value as unknown[]) {
    const node = fields[itemElement(list, item)];
    if (node && isMember(node)) continue;
    out.push(node ? withoutFields(list.of, item, node) : item);
  }
  return out;
}
