import type { Lifetime } from '../../cache/encoded-object.js';
import { foregroundFinalizer, orphanFinalizer } from '../../machinery/finalizers.js';
import type { OwnerReference } from '../../machinery/kube-object.js';
import type { PropagationPolicy } from '../../machinery/delete-options.js';

/**
 * solid: the owner exists. absent: it does not, or another object has its name. waiting: it is being deleted in the
 * foreground, after its dependents. unknown: its kind is not served, or its server does not answer. misplaced: it is namespaced and its dependent is
 * cluster-scoped.
 */
export type OwnerState = 'solid' | 'absent' | 'waiting' | 'unknown' | 'misplaced';

export interface Owner {
  readonly reference: OwnerReference;
  readonly state: OwnerState;
}

export type Decision =
  | { readonly action: 'keep' }
  /** Some owners are absent and others exist: removes the references to the former. */
  | { readonly action: 'remove owners'; readonly uids: readonly string[] }
  | { readonly action: 'delete'; readonly policy: PropagationPolicy; readonly unblocksOwners: boolean };

/** True if the object is being deleted in the foreground: it waits for its dependents. */
export function waitsForDependents(lifetime: Lifetime | undefined): boolean {
  return (lifetime?.isDeleting ?? false) && lifetime!.finalizers.includes(foregroundFinalizer);
}

export function orphansDependents(lifetime: Lifetime | undefined): boolean {
  return (lifetime?.isDeleting ?? false) && lifetime!.finalizers.includes(orphanFinalizer);
}

/**
 * Decides about an object that is not being deleted, from the states of its owners. It is kept if an owner exists, and if
 * the state of one is not known. `dependents` are those of the object itself: if one of them waits, its ownership of the
 * object is unblocked, to break a cycle of objects that wait for each other.
 */
export function decide(
  owners: readonly Owner[],
  finalizers: readonly string[],
  dependents: { readonly any: boolean; readonly waiting: boolean },
): Decision {
  const inState = (...states: OwnerState[]) => owners.filter(({ state }) => states.includes(state));
  if (owners.length === 0) return { action: 'keep' };
  const lost = inState('absent', 'waiting');
  if (inState('unknown', 'misplaced').length > 0) return { action: 'keep' };
  if (inState('solid').length > 0) {
    return lost.length === 0
      ? { action: 'keep' }
      : { action: 'remove owners', uids: lost.map(({ reference }) => reference.uid) };
  }
  if (inState('waiting').length > 0 && dependents.any) {
    return { action: 'delete', policy: 'Foreground', unblocksOwners: dependents.waiting };
  }
  const policy = finalizers.includes(orphanFinalizer)
    ? 'Orphan'
    : finalizers.includes(foregroundFinalizer)
      ? 'Foreground'
      : 'Background';
  return { action: 'delete', policy, unblocksOwners: false };
}

/**
 * True if a blocker of `key` is not itself (transitively) waiting for `key`; cycles do not block. Otherwise the objects of
 * a cycle that are all deleted in the foreground would wait for each other forever.
 */
export function isBlocked(key: string, blockersOf: (key: string) => Iterable<string>): boolean {
  const waitersOf = new Map<string, string[]>([[key, []]]);
  for (const waiter of waitersOf.keys()) {
    for (const blocker of blockersOf(waiter)) {
      const waiters = waitersOf.get(blocker);
      if (waiters) waiters.push(waiter);
      else waitersOf.set(blocker, [waiter]);
    }
  }
  const waitsForKey = new Set([key]);
  for (const blocker of waitsForKey) for (const waiter of waitersOf.get(blocker)!) waitsForKey.add(waiter);
  return [...blockersOf(key)].some((blocker) => !waitsForKey.has(blocker));
}
