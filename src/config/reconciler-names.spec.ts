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
])('--controllers %j: namespaces %s', (controllers, want) => {
  expect(isReconcilerEnabled(controllers, 'namespace-controller')).toBe(want);
});

it('suggests what may have been meant', () => {
  expect(unknownReconcilers(['*', '-*', '-garbagecolector', 'namespace-controler', 'scheduler', '-namespace'])).toEqual(
    [
      '-garbagecolector is no reconciler of this server; did you mean -garbagecollector?',
      'namespace-controler is no reconciler of this server; did you mean namespace-controller?',
      'scheduler is no reconciler of this server',
    ],
  );
});
