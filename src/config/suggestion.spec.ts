import { editDistance, nearest } from './suggestion.js';

test.each<[string, string, number]>([
  ['', '', 0],
  ['abc', 'abc', 0],
  ['abc', 'abd', 1],
  ['abc', 'acb', 1],
  ['abc', '', 3],
  ['kitten', 'sitting', 3],
])('edit distance from %j to %j is %d', (a, b, distance) => {
  expect(editDistance(a, b)).toBe(distance);
  expect(editDistance(b, a)).toBe(distance);
});

test.each<[string, string | undefined]>([
  ['secure-prot', 'secure-port'],
  ['etcd-server', 'etcd-servers'],
  ['authorisation-mode', 'authorization-mode'],
  ['zzzz', undefined],
])('nearest name to %j is %j', (name, meant) => {
  expect(nearest(name, ['secure-port', 'etcd-servers', 'authorization-mode'])).toBe(meant);
});
