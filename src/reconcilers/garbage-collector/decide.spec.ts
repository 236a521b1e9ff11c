import { decide, isBlocked, orphansDependents, waitsForDependents, type Decision, type OwnerState } from './decide.js';

const stays: Decision = { then: 'stays' };
const goes = (policy: 'Background' | 'Foreground' | 'Orphan', unblocksOwners = false): Decision => ({
  then: 'goes',
  policy,
  unblocksOwners,
});
const forgets = (...uids: string[]): Decision => ({ then: 'forgets', uids });

const alone = { any: false, waiting: false };
const withDependents = { any: true, waiting: false };
const inCircle = { any: true, waiting: true };

/** Owners are named u0, u1, … in their order. */
it.each<[OwnerState[], string[], typeof alone, Decision]>([
  [[], [], alone, stays],
  [['solid'], [], alone, stays],
  [['solid', 'solid'], [], alone, stays],
  [['solid', 'absent'], [], alone, forgets('u1')],
  [['waiting', 'solid', 'absent'], [], withDependents, forgets('u0', 'u2')],
  [['absent'], [], alone, goes('Background')],
  [['absent', 'absent'], [], withDependents, goes('Background')],
  [['absent'], ['orphan'], withDependents, goes('Orphan')],
  [['absent'], ['foregroundDeletion'], withDependents, goes('Foreground')],
  [['waiting'], [], alone, goes('Background')],
  [['waiting'], [], withDependents, goes('Foreground')],
  [['waiting'], ['orphan'], withDependents, goes('Foreground')],
  [['waiting', 'absent'], [], withDependents, goes('Foreground')],
  [['waiting'], [], inCircle, goes('Foreground', true)],
  [['unknown'], [], alone, stays],
  [['unknown', 'absent'], [], alone, stays],
  [['misplaced', 'absent'], [], alone, stays],
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
])('%j waits for its dependents: %s, lets them go: %s', (lifetime, waits, orphans) => {
  expect(waitsForDependents(lifetime)).toBe(waits);
  expect(orphansDependents(lifetime)).toBe(orphans);
});

/** `a>bc`: a waits for b and c. What is not on the left does not wait. */
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
