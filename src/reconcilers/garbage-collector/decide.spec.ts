import { decide, isBlocked, orphansDependents, waitsForDependents, type Decision, type OwnerState } from './decide.js';

const keep: Decision = { action: 'keep' };
const deleteWith = (policy: 'Background' | 'Foreground' | 'Orphan', unblocksOwners = false): Decision => ({
  action: 'delete',
  policy,
  unblocksOwners,
});
const removeOwners = (...uids: string[]): Decision => ({ action: 'remove owners', uids });

const alone = { any: false, waiting: false };
const withDependents = { any: true, waiting: false };
const inCycle = { any: true, waiting: true };

/** Owners are named u0, u1, … in their order. */
it.each<[OwnerState[], string[], typeof alone, Decision]>([
  [[], [], alone, keep],
  [['solid'], [], alone, keep],
  [['solid', 'solid'], [], alone, keep],
  [['solid', 'absent'], [], alone, removeOwners('u1')],
  [['waiting', 'solid', 'absent'], [], withDependents, removeOwners('u0', 'u2')],
  [['absent'], [], alone, deleteWith('Background')],
  [['absent', 'absent'], [], withDependents, deleteWith('Background')],
  [['absent'], ['orphan'], withDependents, deleteWith('Orphan')],
  [['absent'], ['foregroundDeletion'], withDependents, deleteWith('Foreground')],
  [['waiting'], [], alone, deleteWith('Background')],
  [['waiting'], [], withDependents, deleteWith('Foreground')],
  [['waiting'], ['orphan'], withDependents, deleteWith('Foreground')],
  [['waiting', 'absent'], [], withDependents, deleteWith('Foreground')],
  [['waiting'], [], inCycle, deleteWith('Foreground', true)],
  [['unknown'], [], alone, keep],
  [['unknown', 'absent'], [], alone, keep],
  [['misplaced', 'absent'], [], alone, keep],
])('owners %j, finalizers %j, dependents %j: %j', (states, finalizers, dependents, want) => {
  const owners = states.map((state, at) => ({
    reference: { apiVersion: 'v1', kind: 'ConfigMap', name: `o${at}`, uid: `u${at}` },
    state,
  }));
  expect(decide(owners, finalizers, dependents)).toEqual(want);
});

it.each([
  [undefined, false, false],
  [{ owners: [], finalizers: ['foregroundDeletion', 'orphan'], isDeleting: false }, false, false],
  [{ owners: [], finalizers: ['foregroundDeletion'], isDeleting: true }, true, false],
  [{ owners: [], finalizers: ['orphan'], isDeleting: true }, false, true],
  [{ owners: [], finalizers: ['example.com/x'], isDeleting: true }, false, false],
])('an object with %j waits for its dependents: %s, orphans them: %s', (lifetime, waits, orphans) => {
  expect(waitsForDependents(lifetime)).toBe(waits);
  expect(orphansDependents(lifetime)).toBe(orphans);
});

/** `a>bc`: a waits for b and c. Objects that are not on the left do not wait. */
it.each([
  ['a>', false],
  ['a>b', true],
  ['a>a', false],
  ['a>b b>a', false],
  ['a>b b>c c>a', false],
  ['a>b b>c c>b', true],
  ['a>bc b>a', true],
  ['a>bc b>a c>b', false],
  ['a>bc b>c c>b', true],
  ['a>bc b>ca c>b', false],
  ['a>bc b>ad c>b', false],
])('with %s, a is blocked: %s', (edges, want) => {
  const blockers = new Map(edges.split(' ').map((edge) => [edge[0]!, [...edge.slice(2)]]));
  expect(isBlocked('a', (key) => blockers.get(key) ?? [])).toBe(want);
});
