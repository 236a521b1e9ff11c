import { deepEqual } from '../../machinery/deep-equal.js';
import type { JsonObject } from '../../machinery/kube-object.js';
import { managedFieldsOf, withManagedFields, withoutManagedFields } from './bare-object.js';
import { readOwners, type Owners } from './managed-fields.js';

/**
 * Puts back the old times of managedFields if an update changes nothing else, so that it is detected as a no-op. `next`
 * is the object to be stored.
 */
export function withoutIdleTimes(live: JsonObject, next: JsonObject): JsonObject {
  const before = managedFieldsOf(live);
  if (!Array.isArray(before) || !deepEqual(withoutManagedFields(live), withoutManagedFields(next))) return next;
  const written = managedFieldsOf(next);
  if (deepEqual(before, written)) return next;
  const after = readOwners(written);
  return after && haveTheSame(readOwners(before), after) ? withManagedFields(next, before) : next;
}

function haveTheSame(before: Owners | undefined, after: Owners): boolean {
  if (before?.size !== after.size) return false;
  for (const [id, owner] of after) {
    const same = before.get(id);
    if (same?.apiVersion !== owner.apiVersion || !deepEqual(same.fields, owner.fields)) return false;
  }
  return true;
}
