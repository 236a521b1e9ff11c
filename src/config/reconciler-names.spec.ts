import { isReconcilerEnabled, unknownReconcilers } from './reconciler-names.js';

it.each([
  [['*'], true],
  [[], false],
  [['*', '-namespace-controller'], false],
  [['-namespace', '*'], false],
  [['namespace'], true],
  [['garbage-collector-controller'], false],
  [['-garbagecollector'], false],
  [['namespace-controller', '-namespace'], true],
  [['-*'], false],
  [['-*', 'namespace'], true],
  [['*', '-*'], false],
])('--controllers %j enables the namespace controller: %s', (controllers, want) => {
  expect(isReconcilerEnabled(controllers, { name: 'namespace-controller', runs: 'by default' })).toBe(want);
});

it.each([
  [['*'], false],
  [['*', 'bootstrapsigner'], true],
  [['bootstrap-signer-controller'], true],
  [['-bootstrapsigner', 'bootstrap-signer-controller'], false],
])('--controllers %j enables the bootstrap signer: %s', (controllers, want) => {
  expect(isReconcilerEnabled(controllers, { name: 'bootstrap-signer-controller', runs: 'if enabled' })).toBe(want);
});

it.each([
  ['if enabled', ['*'], false],
  ['if enabled', ['*', 'own'], true],
  ['always', ['-*'], true],
] as const)('a reconciler that runs %s, with --controllers %j: %s', (runs, controllers, want) => {
  expect(isReconcilerEnabled(controllers, { name: 'own', runs })).toBe(want);
});

it('an unknown reconciler is an error that suggests the nearest name', () => {
  expect(unknownReconcilers(['*', '-*', '-garbagecolector', 'namespace-controler', 'scheduler', '-namespace'])).toEqual(
    [
      'unknown reconciler -garbagecolector; did you mean -garbagecollector?',
      'unknown reconciler namespace-controler; did you mean namespace-controller?',
      'unknown reconciler scheduler',
    ],
  );
});

it('the name of a reconciler of an embedding program is accepted', () => {
  expect(unknownReconcilers(['-own'], ['own'])).toEqual([]);
});
