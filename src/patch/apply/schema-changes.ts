import { isEmpty, leaf, schemaBelow, self, type FieldSet, type OpenFieldSet } from './field-set.js';
import { deducedJson, type Schema } from './schema.js';

/**
 * Adapts fields to the current schema: if a type has become atomic, an owner of a part owns all of it. (A type that has
 * become granular needs no change.) Returns the same set if nothing changes.
 */
export function inTodaysTypes(fields: FieldSet, schema: Schema): FieldSet {
  let out: OpenFieldSet | undefined;
  for (const element in fields) {
    const node = fields[element]!;
    if (element === self || isEmpty(node)) continue;
    const type = schemaBelow(schema, element);
    if (!type || type === deducedJson) continue;
    const today = isOneThing(type) ? leaf : inTodaysTypes(node, type);
    if (today !== node) (out ??= { ...fields })[element] = today;
  }
  return out ?? fields;
}

function isOneThing({ map, list }: Schema): boolean {
  return map ? map.isAtomic : list?.kind === 'atomic';
}
