import { fieldsOf } from './config-set.js';
import { difference, intersection, isEmpty, union, withNamedFields, type FieldSet } from './field-set.js';
import type { Owner, Owners } from './managed-fields.js';
import { ownedByVersion } from './ownership.js';
import { withoutFields } from './remove-fields.js';
import { inVersion, type KindVersions, type VersionedObject } from './versions.js';

/**
 * Takes from the merged object what its applier had applied before, did not apply now, and nobody else owns. What stood
 * below it, owned by nobody, goes with it only when it was the applier's.
 */
export function pruned(
  merged: VersionedObject,
  owners: Owners,
  before: Owner | undefined,
  applier: Owner,
  versions: KindVersions,
): VersionedObject {
  if (!before || isEmpty(before.fields)) return merged;
  if (before.apiVersion === applier.apiVersion && isEmpty(difference(before.fields, applier.fields))) return merged;
  const then = inVersion(merged, before.apiVersion, versions);
  if (!then) return merged;
  const last = named(before.fields, then);
  const bare = without(then, last);
  const withOwned = addBackOwned({ merged: then, bare }, owners, versions).bare;
  const result = addBackDangling(then, withOwned, last, versions);
  return inVersion(result, applier.apiVersion, versions) ?? merged;
}

interface Pair {
  readonly merged: VersionedObject;
  readonly bare: VersionedObject;
}

/** The version of what was removed comes first: conversion may need fields that are missing. */
function addBackOwned(pair: Pair, owners: Owners, versions: KindVersions): Pair {
  const owned = ownedByVersion(owners);
  const first = pair.bare.apiVersion;
  const order = [...owned.keys()].sort((a, b) => Number(b === first) - Number(a === first));
  return order.reduce((now, version) => addBackOwnedIn(now, version, owned.get(version)!, versions), pair);
}

function addBackOwnedIn(pair: Pair, version: string, owned: FieldSet, versions: KindVersions): Pair {
  const merged = inVersion(pair.merged, version, versions);
  const bare = inVersion(pair.bare, version, versions);
  if (!merged || !bare) return pair;
  const kept = union(allNamed(bare), named(owned, merged));
  return { merged, bare: without(merged, difference(allNamed(merged), kept)) };
}

/** Owned by nobody, or by those who update: only what the applier had applied goes. */
function addBackDangling(
  merged: VersionedObject,
  bare: VersionedObject,
  last: FieldSet,
  versions: KindVersions,
): VersionedObject {
  const then = inVersion(bare, merged.apiVersion, versions);
  if (!then) return merged;
  return without(merged, intersection(difference(allNamed(merged), allNamed(then)), last));
}

function named(fields: FieldSet, { schema }: VersionedObject): FieldSet {
  return withNamedFields(fields, schema);
}

function allNamed(versioned: VersionedObject): FieldSet {
  return named(fieldsOf(versioned.schema, versioned.object), versioned);
}

function without(versioned: VersionedObject, fields: FieldSet): VersionedObject {
  return { ...versioned, object: withoutFields(versioned.schema, versioned.object, fields) };
}
