import type { JsonValue } from '../../machinery/kube-object.js';
import { difference, fieldSetOf, intersection, isEmpty, union, type FieldSet } from './field-set.js';
import { ownerId, readOwners, writeOwners, type Owner, type Owners } from './managed-fields.js';

/** The version of Scale, for all kinds. */
const scaleVersion = 'autoscaling/v1';
const scaleReplicas = fieldSetOf('spec/replicas');

export interface ScaledObject {
  readonly managedFields: JsonValue | undefined;
  /** The version of the request. */
  readonly apiVersion: string;
  /**
   * Path of spec.replicas in each version; undefined for a version without scale, absent for a version that is not
   * served.
   */
  readonly replicas: ReadonlyMap<string, FieldSet | undefined>;
}

/**
 * managedFields of the Scale of an object. A Scale has one field that anybody owns, spec.replicas, at another path than
 * in the object: writes to the Scale are tracked in the Scale, and then mapped to the object.
 */
export function scaleManagedFields(scaled: ScaledObject): JsonValue[] | undefined {
  const owners: Owners = new Map();
  for (const owner of read(scaled.managedFields).values()) {
    if (!ownsReplicas(owner, scaled)) continue;
    const seen = { ...owner, apiVersion: scaleVersion, fields: scaleReplicas };
    owners.set(ownerId(seen), seen);
  }
  return writeOwners(owners);
}

/** managedFields of the object after a write to its Scale. */
export function scaledManagedFields(scaled: ScaledObject, ofScale: JsonValue | undefined): JsonValue[] | undefined {
  const scalers = read(ofScale);
  const owners: Owners = new Map();
  for (const [id, owner] of read(scaled.managedFields)) {
    if (!scaled.replicas.has(owner.apiVersion)) continue;
    if (!ownsReplicas(owner, scaled) || scalers.delete(id)) owners.set(id, owner);
    else {
      const fields = difference(owner.fields, scaled.replicas.get(owner.apiVersion)!);
      if (!isEmpty(fields)) owners.set(id, { ...owner, fields });
    }
  }
  for (const scaler of scalers.values()) {
    if (isEmpty(intersection(scaler.fields, scaleReplicas))) continue;
    const replicas = scaled.replicas.get(scaled.apiVersion);
    if (replicas) addOwner(owners, { ...scaler, apiVersion: scaled.apiVersion, time: undefined, fields: replicas });
  }
  return writeOwners(owners);
}

/** Adds an owner through the Scale. As in kube-apiserver it has no time, unless it joins an existing owner. */
function addOwner(owners: Owners, owner: Owner): void {
  const id = ownerId(owner);
  const before = owners.get(id);
  owners.set(id, before ? { ...before, fields: union(before.fields, owner.fields) } : owner);
}

function ownsReplicas(owner: Owner, { replicas }: ScaledObject): boolean {
  const field = replicas.get(owner.apiVersion);
  return field !== undefined && !isEmpty(intersection(owner.fields, field));
}

function read(managedFields: JsonValue | undefined): Owners {
  return readOwners(managedFields) ?? new Map<string, Owner>();
}
