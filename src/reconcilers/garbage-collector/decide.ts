import type { Lifetime } from '../../cache/encoded-object.js';
import type { OwnerReference } from '../../machinery/kube-object.js';
import type { PropagationPolicy } from '../../machinery/list-options.js';

/** Finalizers that a deletion leaves for the garbage collector: what is to happen to the dependents. */
export const orphanFinalizer = 'orphan';
export const foregroundFinalizer = 'foregroundDeletion';

/**
 * solid: it is there. absent: it is not, or another object has its name. waiting: it is being deleted, after its
 * dependents. unknown: its kind is not served. misplaced: in a namespace, while the dependent is in none.
 */
export type OwnerState = 'solid' | 'absent' | 'waiting' | 'unknown' | 'misplaced';

export interface Owner {
  readonly reference: OwnerReference;
  readonly state: OwnerState;
}

export type Decision =
  | { readonly then: 'stays' }
  /** Some owners are gone and others are not: it forgets the former. */
  | { readonly then: 'forgets'; readonly uids: readonly string[] }
  | { readonly then: 'goes'; readonly policy: PropagationPolicy; readonly unblocksOwners: boolean };

/** Whether a deletion of it is under way that waits for its dependents. */
export function waitsForDependents(lifetime: Lifetime | undefined): boolean {
  return (lifetime?.isDeleting ?? false) && lifetime!.finalizers.includes(foregroundFinalizer);
}

export function orphansDependents(lifetime: Lifetime | undefined): boolean {
  return (lifetime?.isDeleting ?? false) && lifetime!.finalizers.includes(orphanFinalizer);
}

/**
 * What becomes of an object that is not being deleted, by what its owners are. One that stands keeps it; what cannot be
 * told keeps it too. `dependents` are its own: a circle of objects that wait for each other is opened where one of them waits.
 */
export function decide(
  owners: readonly Owner[],
  finalizers: readonly string[],
  dependents: { readonly any: boolean; readonly waiting: boolean },
): Decision {
  const inState = (...states: OwnerState[]) => owners.filter(({ state }) => states.includes(state));
  if (owners.length === 0) return { then: 'stays' };
  const lost = inState('absent', 'waiting');
  if (inState('unknown', 'misplaced').length > 0) return { then: 'stays' };
  if (inState('solid').length > 0) {
    return lost.length === 0
      ? { then: 'stays' }
      : { then: 'forgets', uids: lost.map(({ reference }) => reference.uid) };
  }
  if (inState('waiting').length > 0 && dependents.any) {
    return { then: 'goes', policy: 'Foreground', unblocksOwners: dependents.waiting };
  }
  const policy = finalizers.includes(orphanFinalizer)
    ? 'Orphan'
    : finalizers.includes(foregroundFinalizer)
      ? 'Foreground'
      : 'Background';
  return { then: 'goes', policy, unblocksOwners: false };
}

/**
 * Whether something is in the way of `key`, where all that block it wait themselves: those that, over others that wait,
 * wait for it in the end are not. Without that, objects of a circle that were each asked to go last would stay for ever.
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
