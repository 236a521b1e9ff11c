import type { Steps } from '../../std/steps.js';
import { difference, intersection, isEmpty, union } from './field-set.js';
import type { Conflict } from './conflicts.js';
import type { Owner, Owners } from './managed-fields.js';
import { inTodaysTypes } from './schema-changes.js';
import type { KindVersions, VersionedChanges, VersionedObject } from './versions.js';

/** Adapts owners to the current schemas. Owners of versions that are no longer served are dropped later. */
export function* reconciled(owners: Owners, live: VersionedObject, versions: KindVersions): Steps<Owners> {
  let out: Owners | undefined;
  for (const [id, owner] of owners) {
    const schema = owner.apiVersion === live.apiVersion ? live.schema : versions.schema(owner.apiVersion);
    if (!schema) {
      (out ??= new Map(owners)).delete(id);
      continue;
    }
    const fields = inTodaysTypes(owner.fields, schema);
    if (fields !== owner.fields) (out ??= new Map(owners)).set(id, { ...owner, fields });
    yield;
  }
  return out ?? owners;
}

interface Disowned {
  readonly owners: Owners;
  /** Changed fields of other owners. */
  readonly conflicts: readonly Conflict[];
}

/** Removes changed and removed fields from all other owners. */
export function* disownChanged(owners: Owners, changes: VersionedChanges, writer: string | undefined): Steps<Disowned> {
  const left: Owners = new Map();
  const conflicts: Conflict[] = [];
  for (const [id, owner] of owners) {
    if (id === writer) {
      left.set(id, owner);
      continue;
    }
    const seen = changes.in(owner.apiVersion);
    yield;
    if (!seen) continue;
    const taken = intersection(owner.fields, seen.written);
    yield;
    if (!isEmpty(taken)) conflicts.push({ id, owner, fields: taken });
    const fields = difference(difference(owner.fields, taken), seen.removed);
    if (!isEmpty(fields)) left.set(id, withFields(owner, fields));
    yield;
  }
  return { owners: left, conflicts };
}

export function withFields(owner: Owner, fields: Owner['fields']): Owner {
  return fields === owner.fields ? owner : { ...owner, fields };
}

/** Union of the fields of all owners of each version. */
export function* ownedByVersion(owners: Owners): Steps<Map<string, Owner['fields']>> {
  const found = new Map<string, Owner['fields']>();
  for (const { apiVersion, fields } of owners.values()) {
    const before = found.get(apiVersion);
    found.set(apiVersion, before ? union(before, fields) : fields);
    yield;
  }
  return found;
}
