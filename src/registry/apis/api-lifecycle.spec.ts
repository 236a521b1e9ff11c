import { deprecationWarning, isDeprecated, isRemoved, type ApiLifecycle } from './api-lifecycle.js';

const budget = { group: 'policy', version: 'v1beta1', kind: 'PodDisruptionBudget' };
const endpoints = { group: '', version: 'v1', kind: 'Endpoints' };

test.each<{ name: string; kind?: typeof budget; given: ApiLifecycle; want: string | undefined }>([
  {
    name: 'deprecation, removal and replacement',
    given: { deprecated: '1.21', removed: '1.25', replacement: { ...budget, version: 'v1' } },
    want: 'policy/v1beta1 PodDisruptionBudget is deprecated in v1.21+, unavailable in v1.25+; use policy/v1 PodDisruptionBudget',
  },
  {
    name: 'deprecation without removal',
    kind: endpoints,
    given: {
      introduced: '1.0',
      deprecated: '1.33',
      replacement: { group: 'discovery.k8s.io', version: 'v1', kind: 'EndpointSlice' },
    },
    want: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  },
  {
    name: 'deprecation and removal without replacement',
    given: { deprecated: '1.21', removed: '1.40' },
    want: 'policy/v1beta1 PodDisruptionBudget is deprecated in v1.21+, unavailable in v1.40+',
  },
  {
    name: 'a replacement in the core group',
    given: { deprecated: '1.21', replacement: endpoints },
    want: 'policy/v1beta1 PodDisruptionBudget is deprecated in v1.21+; use v1 Endpoints',
  },
  {
    name: 'deprecation alone',
    kind: endpoints,
    given: { deprecated: '1.19' },
    want: 'v1 Endpoints is deprecated in v1.19+',
  },
  { name: 'a future deprecation', given: { deprecated: '1.38', removed: '1.41' }, want: undefined },
  { name: 'removal without deprecation', given: { introduced: '1.34', removed: '1.40' }, want: undefined },
  { name: 'no lifecycle', given: {}, want: undefined },
])('deprecation warning: $name', ({ kind = budget, given, want }) => {
  expect(deprecationWarning(kind, given, '1.37')).toBe(want);
});

test.each<[ApiLifecycle, deprecated: boolean, removed: boolean]>([
  [{}, false, false],
  [{ introduced: '1.30' }, false, false],
  [{ deprecated: '1.37', removed: '1.40' }, true, false],
  [{ deprecated: '1.38', removed: '1.41' }, false, false],
  [{ deprecated: '1.9', removed: '1.16' }, true, true],
  [{ deprecated: '1.34', removed: '1.37' }, true, true],
  [{ deprecated: '2.0' }, false, false],
])('%j in 1.37: deprecated %s, removed %s', (given, deprecated, removed) => {
  expect([isDeprecated(given, '1.37'), isRemoved(given, '1.37')]).toEqual([deprecated, removed]);
});

test('the release defaults to the served one', () => {
  expect([isDeprecated({ deprecated: '1.33' }), isDeprecated({ deprecated: '99.0' })]).toEqual([true, false]);
});
