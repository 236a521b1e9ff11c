import type { NamespaceCondition } from '../../catalog/types/core.v1.js';
import { conditionsAfter, isEmpty, type Survey } from './decide.js';

const early = '2026-01-01T00:00:00Z';
const late = '2026-01-01T00:01:00Z';
const nothing: Survey = { unreadable: [], stale: [], failures: [], remains: [] };
const configMaps = { group: '', resource: 'configmaps', count: 2, finalizers: new Map([['example.com/hold', 1]]) };
const leases = {
  group: 'coordination.k8s.io',
  resource: 'leases',
  count: 1,
  finalizers: new Map([
    ['example.com/hold', 1],
    ['a.example.com/b', 1],
  ]),
};

const byType = (conditions: readonly NamespaceCondition[]) =>
  Object.fromEntries(conditions.map(({ type, status, message }) => [type, [status, message]]));
const good = {
  NamespaceDeletionDiscoveryFailure: ['False', 'All resources successfully discovered'],
  NamespaceDeletionGroupVersionParsingFailure: ['False', 'All legacy kube types successfully parsed'],
  NamespaceDeletionContentFailure: ['False', 'All content successfully deleted, may be waiting on finalization'],
  NamespaceContentRemaining: ['False', 'All content successfully removed'],
  NamespaceFinalizersRemaining: ['False', 'All content-preserving finalizers finished'],
};

it.each<[string, Survey, object]>([
  ['nothing remains', nothing, {}],
  [
    'objects with finalizers remain',
    { ...nothing, remains: [leases, configMaps] },
    {
      NamespaceContentRemaining: [
        'True',
        'Some resources are remaining: configmaps. has 2 resource instances, leases.coordination.k8s.io has 1 resource instances',
      ],
      NamespaceFinalizersRemaining: [
        'True',
        'Some content in the namespace has finalizers remaining: a.example.com/b in 1 resource instances, example.com/hold in 2 resource instances',
      ],
    },
  ],
  [
    'a deletion failed',
    { ...nothing, failures: ['configmaps: no'] },
    {
      NamespaceDeletionContentFailure: ['True', 'Failed to delete all resource types, 1 remaining: configmaps: no'],
    },
  ],
  [
    'the cache of a resource is not loaded',
    { ...nothing, unreadable: ['widgets.example.com'] },
    {
      NamespaceDeletionDiscoveryFailure: [
        'True',
        'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: widgets.example.com',
      ],
    },
  ],
  [
    'an aggregated server does not answer',
    { ...nothing, stale: ['shop.example.com/v1'] },
    {
      NamespaceDeletionDiscoveryFailure: [
        'True',
        'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: shop.example.com/v1: stale GroupVersion discovery: shop.example.com/v1',
      ],
    },
  ],
])('the conditions if %s', (_name, survey, want) => {
  expect(byType(conditionsAfter([], survey, early))).toEqual({ ...good, ...want });
  expect(isEmpty(survey)).toBe(survey === nothing);
});

it('returns the same list if nothing changes, and keeps conditions of others', () => {
  const first = conditionsAfter([], nothing, early);
  expect(conditionsAfter(first, nothing, late)).toBe(first);
  const others = [{ type: 'Other', status: 'True', lastTransitionTime: early, reason: 'R', message: '' }, ...first];
  expect(conditionsAfter(others, { ...nothing, remains: [configMaps] }, late)[0]).toBe(others[0]);
});

it('lastTransitionTime changes with the status, not with the message', () => {
  const timeOf = (conditions: readonly NamespaceCondition[]) =>
    conditions.find(({ type }) => type === 'NamespaceContentRemaining')!.lastTransitionTime;
  const first = conditionsAfter([], { ...nothing, remains: [configMaps] }, early);
  const fewer = conditionsAfter(first, { ...nothing, remains: [{ ...configMaps, count: 1 }] }, late);
  expect(fewer).not.toBe(first);
  expect(timeOf(fewer)).toBe(early);
  expect(timeOf(conditionsAfter(fewer, nothing, late))).toBe(late);
});
