import { compareUtf8 } from '../../std/compare-utf8.js';
import { unionOfAll, type FieldSet } from './field-set.js';
import { ownerId, type Owner, type Owners } from './managed-fields.js';

/** As in kube-apiserver: bounds managedFields against clients with a new manager name for every update. */
const updatersMax = 10;
const bucketName = 'ancient-changes';

/**
 * Joins the oldest owners with operation Update until `max` are left. Owners of one version become one, with the latest
 * time.
 */
export function capUpdaters(owners: Owners, max = updatersMax): Owners {
  if (owners.size <= max) return owners;
  const updaters = [...owners].filter(([, owner]) => owner.operation === 'Update');
  if (updaters.length <= max) return owners;
  updaters.sort(([a, left], [b, right]) => compareUtf8(left.time ?? '', right.time ?? '') || compareUtf8(a, b));
  const capped = new Map(owners);
  const firstOfVersion = new Map<string, string>();
  // United at the end: one after the other would take quadratic time.
  const joined = new Map<string, FieldSet[]>();
  let count = updaters.length;
  for (const [id, owner] of updaters) {
    if (count <= max) break;
    const first = firstOfVersion.get(owner.apiVersion);
    if (first === undefined) {
      firstOfVersion.set(owner.apiVersion, id);
      continue;
    }
    const bucket = bucketOf(owner);
    const bucketId = ownerId(bucket);
    let before = capped.get(bucketId);
    if (!before) {
      before = capped.get(first)!;
      capped.delete(first);
    }
    capped.delete(id);
    capped.set(bucketId, bucket);
    const sets = joined.get(bucketId);
    if (sets) sets.push(owner.fields);
    else joined.set(bucketId, [before.fields, owner.fields]);
    count--;
  }
  for (const [id, sets] of joined) capped.set(id, { ...capped.get(id)!, fields: unionOfAll(sets) });
  return capped;
}

function bucketOf(owner: Owner): Owner {
  return { ...owner, manager: bucketName, subresource: '' };
}
