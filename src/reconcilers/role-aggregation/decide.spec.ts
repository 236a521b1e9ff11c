import type { KubeObject } from '../../machinery/kube-object.js';
import { ManualClock } from '../../std/clock.js';
import { YieldTimer } from '../../std/yield-timer.js';
import { gatherRules, withRules, type StoredRole } from './decide.js';

const rule = (name: string) => ({ verbs: ['get'], apiGroups: [''], resources: [name] });
const role = (name: string, labels: Record<string, string>, ...resources: string[]): KubeObject => ({
  kind: 'ClusterRole',
  apiVersion: 'rbac.authorization.k8s.io/v1',
  metadata: { name, labels },
  rules: resources.map(rule),
});
const gathering = (clusterRoleSelectors: object[], ...resources: string[]): KubeObject => ({
  ...role('sum', { to: 'sum' }, ...resources),
  aggregationRule: { clusterRoleSelectors },
});
const stored = (object: KubeObject): StoredRole => ({
  attributes: { name: object.metadata.name!, labels: object.metadata.labels },
  parse: () => object,
});
const gather = (sum: KubeObject, all: readonly StoredRole[], valuesMax = 1_000) =>
  gatherRules(sum, all, { valuesMax, timer: new YieldTimer(new ManualClock()) });

const others = [
  role('c', { to: 'sum', tier: '2' }, 'pods', 'nodes'),
  role('a', { to: 'sum', tier: '1' }, 'secrets', 'pods'),
  role('b', { to: 'other' }, 'events'),
  role('empty', { to: 'sum' }),
];
const toSum = { matchLabels: { to: 'sum' } };

it.each<[what: string, selectors: object[], all: KubeObject[], want: string[]]>([
  ['in the order of names, each rule once', [toSum], others, ['secrets', 'pods', 'nodes']],
  ['selector by selector', [{ matchLabels: { tier: '2' } }, toSum], others, ['pods', 'nodes', 'secrets']],
  ['without its own', [toSum], [...others, gathering([toSum], 'configmaps')], ['secrets', 'pods', 'nodes']],
  ['by expressions', [{ matchExpressions: [{ key: 'to', operator: 'NotIn', values: ['sum'] }] }], others, ['events']],
  ['none where nothing is chosen', [{ matchLabels: { to: 'nobody' } }], others, []],
  ['all by an empty selector', [{}], others, ['secrets', 'pods', 'events', 'nodes']],
])('gathers rules %s', async (_what, selectors, all, want) =>
  expect(await gather(gathering(selectors, 'stale'), all.map(stored))).toEqual(want.map(rule)),
);

it('keeps a role that has the gathered rules as it is', () => {
  const has = gathering([toSum], 'secrets', 'pods');
  expect(withRules(has, [rule('secrets'), rule('pods')])).toBe(has);
  const hasNone = { ...gathering([toSum]), rules: null };
  expect(withRules(hasNone, [])).toBe(hasNone);
});

it('replaces rules that are no longer gathered', () =>
  expect(withRules(gathering([toSum], 'stale'), [rule('pods')])['rules']).toEqual([rule('pods')]));

it('parses a role once, however many selectors choose it', async () => {
  let parsed = 0;
  const counted = others.map(stored).map((it) => ({ ...it, parse: () => (parsed++, it.parse()) }));
  await gather(gathering(Array.from({ length: 14_538 }, () => ({}))), counted);
  expect(parsed).toBe(others.length);
});

it('compares 14,538 equal selectors as one', async () => {
  let compared = 0;
  const labels = new Proxy<Record<string, string>>({}, { get: () => (compared++, 'other') });
  const counted = others.map((it) => ({ ...stored(it), attributes: { name: it.metadata.name!, labels } }));
  await gather(gathering(Array.from({ length: 14_538 }, () => toSum)), counted);
  expect(compared).toBe(others.length);
});

it('gathers no more rules than an object may have, and parses no role beyond', async () => {
  const many = Array.from({ length: 100 }, (_, n) => role(`r${n}`, { to: 'sum' }, `r${n}`));
  let parsed = 0;
  const counted = many.map(stored).map((it) => ({ ...it, parse: () => (parsed++, it.parse()) }));
  expect(await gather(gathering([toSum]), counted, 70)).toBeUndefined();
  expect(parsed).toBe(11);
});

it('lets other requests run between two roles', async () => {
  const clock = new ManualClock();
  const slow = others.map(stored).map((it) => ({ ...it, parse: () => (clock.advance(11), it.parse()) }));
  const timer = new YieldTimer(clock);
  const yields = jest.spyOn(timer, 'yield');
  await gatherRules(gathering([toSum]), slow, { valuesMax: 1_000, timer });
  expect(yields).toHaveBeenCalledTimes(3);
});
