import { deepEqual } from '../../machinery/deep-equal.js';
import type { JsonValue } from '../../machinery/kube-object.js';
import type { Steps } from '../../std/steps.js';
import type { Conflict } from './conflicts.js';
import { isEmpty } from './field-set.js';
import type { Owner, Owners } from './managed-fields.js';
import { mergeTyped } from './merge-typed.js';
import { disownChanged, reconciled } from './ownership.js';
import { pruned } from './prune.js';
import { VersionedChanges, type KindVersions, type VersionedObject } from './versions.js';

interface Application {
  readonly owners: Owners;
  /** Its object is undefined on create. */
  readonly live: VersionedObject;
  readonly config: unknown;
  /** The manager that applies, as an owner of the fields of the configuration, and its id. */
  readonly applier: Owner;
  readonly id: string;
  readonly force: boolean;
  readonly versions: KindVersions;
  /** Called with the merged object, if it is changed, before ownership is computed; throws to refuse it. */
  readonly check?: ((merged: JsonValue) => void) | undefined;
}

export interface Applied {
  /** Undefined if nothing changed. */
  readonly object: unknown;
  /** All owners except those that own nothing any more. */
  readonly owners: Owners;
}

export interface Refused {
  readonly conflicts: readonly Conflict[];
}

/**
 * Applies a configuration: merges it into the object, removes the fields that the applier no longer wants, and finds
 * conflicts with other owners.
 */
export function* applyConfig(application: Application): Steps<Applied | Refused> {
  const { live, config, applier, id, force, versions, check } = application;
  const before = yield* reconciled(application.owners, live, versions);
  const last = before.get(id);
  const owners: Owners = new Map(before).set(id, applier);
  const merged = { ...live, object: mergeTyped(live.schema, live.object, config) };
  if (merged.object !== live.object) check?.(merged.object as JsonValue);
  yield;
  const result = yield* pruned(merged, owners, last, applier, versions);
  yield;
  const left = yield* disownChanged(owners, new VersionedChanges(live, result, false, versions), id);
  if (left.conflicts.length > 0 && !force) return { conflicts: left.conflicts };
  if (isEmpty(applier.fields)) left.owners.delete(id);
  return { object: deepEqual(live.object, result.object) ? undefined : result.object, owners: left.owners };
}
