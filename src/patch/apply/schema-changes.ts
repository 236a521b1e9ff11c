import { isEmpty, leaf, schemaBelow, self, type FieldSet, type OpenFieldSet } from './field-set.js';
import { deducedJson, type Schema } from './schema.js';

/**
 * What an owner has when its type has changed since: of what is one thing today it owns the whole, where it owned parts.
 * (What fell into parts since stays as it was.) The same set when there is nothing to change.
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
