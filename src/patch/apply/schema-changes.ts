import { differenceWithBelow, isEmpty, schemaBelow, self, setOfPath, union, type FieldSet } from './field-set.js';
import type { PathElement } from './path-element.js';
import { deducedJson, type Schema } from './schema.js';

/**
 * What an owner has when its type has changed since: of what is one thing today it owns the whole, where it owned parts.
 * (What fell into parts since stays as it was.) The same set when there is nothing to change.
 */
export function inTodaysTypes(fields: FieldSet, schema: Schema): FieldSet {
  const wholes: PathElement[][] = [];
  findParts(fields, schema, [], wholes);
  return wholes.reduce((set, path) => {
    const whole = setOfPath(path);
    return union(differenceWithBelow(set, whole), whole);
  }, fields);
}

function findParts(fields: FieldSet, schema: Schema, path: readonly PathElement[], found: PathElement[][]): void {
  for (const element in fields) {
    const node = fields[element]!;
    if (element === self || isEmpty(node)) continue;
    const type = schemaBelow(schema, element);
    if (!type || type === deducedJson) continue;
    if (type.map ? type.map.isAtomic : type.list?.kind === 'atomic') found.push([...path, element]);
    else findParts(node, type, [...path, element], found);
  }
}
