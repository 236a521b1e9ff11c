import type { ClusterRole } from '../../catalog/types/rbac.v1.js';
import { ManualClock } from '../../std/clock.js';
import { YieldTimer } from '../../std/yield-timer.js';
import { aggregateRules, withRules, type CachedRole } from './decide.js';

const rule = (name: string) => ({ verbs: ['get'], apiGroups: [''], resources: [name] });
const role = (name: string, labels: Record<string, string>, ...resources: string[]): ClusterRole => ({
  kind: 'ClusterRole',
  apiVersion: 'rbac.authorization.k8s.io/v1',
  metadata: { name, labels },
  rules: resources.map(rule),
});
const aggregated = (clusterRoleSelectors: object[], ...resources: string[]): ClusterRole => ({
  ...role('sum', { to: 'sum' }, ...resources),
  aggregationRule: { clusterRoleSelectors },
});
const cached = (object: ClusterRole): CachedRole => ({
  attributes: { name: object.metadata.name!, labels: object.metadata.labels },
  parse: () => object,
});
const aggregate = (sum: ClusterRole, all: readonly CachedRole[], valuesMax = 1_000) =>
  aggregateRules(sum, all, { valuesMax, timer: new YieldTimer(new ManualClock()) });

const others = [
  role('c', { to: 'sum', tier: '2' }, 'pods', 'nodes'),
  role('a', { to: 'sum', tier: '1' }, 'secrets', 'pods'),
  role('b', { to: 'other' }, 'events'),
  role('empty', { to: 'sum' }),
];
const toSum = { matchLabels: { to: 'sum' } };

it.each<[what: string, selectors: object[], all: ClusterRole[], want: string[]]>([
  ['ordered by name, without duplicates', [toSum], others, ['secrets', 'pods', 'nodes']],
  ['ordered by selector', [{ matchLabels: { tier: '2' } }, toSum], others, ['pods', 'nodes', 'secrets']],
  ['without its own rules', [toSum], [...others, aggregated([toSum], 'configmaps')], ['secrets', 'pods', 'nodes']],
  [
    'of roles that expressions match',
    [{ matchExpressions: [{ key: 'to', operator: 'NotIn', values: ['sum'] }] }],
    others,
    ['events'],
  ],
  ['none if no role matches', [{ matchLabels: { to: 'nobody' } }], others, []],
  ['of all roles for an empty selector', [{}], others, ['secrets', 'pods', 'events', 'nodes']],
])('aggregates rules %s', async (_what, selectors, all, want) =>
  expect(await aggregate(aggregated(selectors, 'stale'), all.map(cached))).toEqual(want.map(rule)),
);

it('withRules() returns the same role if it has the rules already', () => {
  const has = aggregated([toSum], 'secrets', 'pods');
  expect(withRules(has, [rule('secrets'), rule('pods')])).toBe(has);
  const withoutRules = { ...aggregated([toSum]), rules: null };
  expect(withRules(withoutRules, [])).toBe(withoutRules);
});

it('withRules() removes rules that are no longer aggregated', () =>
  expect(withRules(aggregated([toSum], 'stale'), [rule('pods')]).rules).toEqual([rule('pods')]));

it('parses a role once, however many selectors match it', async () => {
  let parsed = 0;
  const counted = others.map(cached).map((it) => ({ ...it, parse: () => (parsed++, it.parse()) }));
  await aggregate(aggregated(Array.from({ length: 14_538 }, () => ({}))), counted);
  expect(parsed).toBe(others.length);
});

it('compares 14,538 equal selectors as one', async () => {
  let compared = 0;
  const labels = new Proxy<Record<string, string>>({}, { get: () => (compared++, 'other') });
  const counted = others.map((it) => ({ ...cached(it), attributes: { name: it.metadata.name!, labels } }));
  await aggregate(aggregated(Array.from({ length: 14_538 }, () => toSum)), counted);
  expect(compared).toBe(others.length);
});

it('stops beyond the limit of values, without parsing further roles', async () => {
  const many = Array.from({ length: 100 }, (_, n) => role(`r${n}`, { to: 'sum' }, `r${n}`));
  let parsed = 0;
  const counted = many.map(cached).map((it) => ({ ...it, parse: () => (parsed++, it.parse()) }));
  expect(await aggregate(aggregated([toSum]), counted, 70)).toBeUndefined();
  expect(parsed).toBe(11);
});

it('lets other requests run between two roles', async () => {
  const clock = new ManualClock();
  const slow = others.map(cached).map((it) => ({ ...it, parse: () => (clock.advance(11), it.parse()) }));
  const timer = new YieldTimer(clock);
  const yields = jest.spyOn(timer, 'yield');
  await aggregateRules(aggregated([toSum]), slow, { valuesMax: 1_000, timer });
  expect(yields).toHaveBeenCalledTimes(3);
});
