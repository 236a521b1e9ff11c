import type { KubeObject } from '../../machinery/kube-object.js';
import { withGatheredRules } from './decide.js';

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
])('gathers rules %s', (_what, selectors, all, want) =>
  expect(withGatheredRules(gathering(selectors, 'stale'), all)['rules']).toEqual(want.map(rule)),
);

it.each<[what: string, role: KubeObject]>([
  ['gathers nothing', role('plain', {}, 'stale')],
  ['has all of it', gathering([toSum], 'secrets', 'pods', 'nodes')],
  ['has none, and finds none', { ...gathering([{ matchLabels: { to: 'nobody' } }]), rules: null }],
])('leaves a role that %s as it is', (_what, given) => expect(withGatheredRules(given, others)).toBe(given));
