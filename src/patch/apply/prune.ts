import type { Steps } from '../../std/steps.js';
import { fieldsOf } from './config-set.js';
import { difference, intersection, isEmpty, union, withNamedFields, type FieldSet } from './field-set.js';
import type { Owner, Owners } from './managed-fields.js';
import { ownedByVersion } from './ownership.js';
import { withoutFields } from './remove-fields.js';
import { inVersion, type KindVersions, type VersionedObject } from './versions.js';

/**
 * Removes fields that the applier applied before, did not apply now, and nobody else owns. Unowned fields below a
 * removed one go only if they belonged to the applier.
 */
export function* pruned(
  merged: VersionedObject,
  owners: Owners,
  before: Owner | undefined,
  applier: Owner,
  versions: KindVersions,
): Steps<VersionedObject> {
  if (!before || isEmpty(before.fields)) return merged;
  if (before.apiVersion === applier.apiVersion && isEmpty(difference(before.fields, applier.fields))) return merged;
  const then = inVersion(merged, before.apiVersion, versions);
  if (!then) return merged;
  yield;
  const last = named(before.fields, then);
  yield;
  const bare = without(then, last);
  yield;
  const withOwned = (yield* addBackOwned({ merged: then, bare }, owners, versions)).bare;
  const result = yield* addBackDangling(then, withOwned, last, versions);
  yield;
  return inVersion(result, applier.apiVersion, versions) ?? merged;
}

interface Pair {
  readonly merged: VersionedObject;
  readonly bare: VersionedObject;
}

/** Starts with the version of the removed fields, since conversion may need fields that are missing then. */
function* addBackOwned(pair: Pair, owners: Owners, versions: KindVersions): Steps<Pair> {
  const owned = yield* ownedByVersion(owners);
  const first = pair.bare.apiVersion;
  const order = [...owned.keys()].sort((a, b) => Number(b === first) - Number(a === first));
  let now = pair;
  for (const version of order) now = yield* addBackOwnedIn(now, version, owned.get(version)!, versions);
  return now;
}

function* addBackOwnedIn(pair: Pair, version: string, owned: FieldSet, versions: KindVersions): Steps<Pair> {
  const merged = inVersion(pair.merged, version, versions);
  const bare = inVersion(pair.bare, version, versions);
  if (!merged || !bare) return pair;
  const left = allNamed(bare);
  yield;
  const kept = union(left, named(owned, merged));
  yield;
  const all = allNamed(merged);
  yield;
  const rest = difference(all, kept);
  yield;
  return { merged, bare: without(merged, rest) };
}

/** Adds back fields that nobody owned, or only updaters: only applied fields are removed. */
function* addBackDangling(
  merged: VersionedObject,
  bare: VersionedObject,
  last: FieldSet,
  versions: KindVersions,
): Steps<VersionedObject> {
  const then = inVersion(bare, merged.apiVersion, versions);
  if (!then) return merged;
  const all = allNamed(merged);
  yield;
  const left = allNamed(then);
  yield;
  const dangling = intersection(difference(all, left), last);
  yield;
  return without(merged, dangling);
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
