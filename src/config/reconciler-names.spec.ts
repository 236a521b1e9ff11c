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
  expect(isReconcilerEnabled(controllers, 'namespace-controller')).toBe(want);
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
