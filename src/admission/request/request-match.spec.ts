import type { WriteGiven } from '../../../test/harness/admission.js';
import { enforcedOne, servedAs } from '../../../test/harness/policies.js';

const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
const rules = (change: object) => ({ resourceRules: [{ ...rule, ...change }] });
const isRefused = async (matchConstraints: object, given: WriteGiven = {}, binding: object = {}) =>
  (await enforcedOne({ matchConstraints }, given, binding)).refused !== undefined;

const deployments = { served: servedAs('apps', 'v1', 'deployments', 'Deployment'), of: 'apps/deployments' };
const nodes: WriteGiven = { served: servedAs('', 'v1', 'nodes', 'Node'), of: '/nodes', clusterWide: true };
const namespaces: WriteGiven = {
  served: servedAs('', 'v1', 'namespaces', 'Namespace'),
  of: '/namespaces',
  clusterWide: true,
  object: { metadata: { name: 'new', labels: { team: 'b' } } },
};
const labelled = (labels: Record<string, string>) => ({ metadata: { name: 'p', labels } });
const everything = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] };
const update: WriteGiven = { object: labelled({}), old: labelled({ a: 'b' }) };

it.each<[string, object, WriteGiven, boolean]>([
  ['the named group, version, resource and operation', rules({}), {}, true],
  ['another group', rules({ apiGroups: ['apps'] }), {}, false],
  ['another version', rules({ apiVersions: ['v2'] }), {}, false],
  ['another resource', rules({ resources: ['secrets'] }), {}, false],
  ['another operation', rules({ operations: ['UPDATE', 'DELETE', 'CONNECT'] }), {}, false],
  ['wildcards', rules(everything), deployments, true],
  ['a wildcard of resources and a subresource', rules(everything), { of: '/configmaps/status' }, false],
  ['all resources and subresources', rules({ resources: ['*/*'] }), { of: '/configmaps/status' }, true],
  ['all subresources of the resource', rules({ resources: ['configmaps/*'] }), { of: '/configmaps/x' }, true],
  ['the subresource of any resource', rules({ resources: ['*/x'] }), { of: '/configmaps/x' }, true],
  ['the resource and not its subresource', rules({}), { of: '/configmaps/x' }, false],
  ['scope Namespaced and a namespaced object', rules({ scope: 'Namespaced' }), {}, true],
  ['scope Cluster and a namespaced object', rules({ scope: 'Cluster' }), {}, false],
  ['scope Cluster and a Node', rules({ ...everything, scope: 'Cluster' }), nodes, true],
  ['scope Namespaced and a Node', rules({ ...everything, scope: 'Namespaced' }), nodes, false],
  ['scope Cluster and a Namespace', rules({ ...everything, scope: 'Cluster' }), namespaces, true],
  ['scope Namespaced and a Namespace', rules({ ...everything, scope: 'Namespaced' }), namespaces, false],
  ['the name of the object', rules({ resourceNames: ['o', 'p'] }), {}, true],
  ['another name', rules({ resourceNames: ['o'] }), {}, false],
  ['an excluded name', { ...rules({}), excludeResourceRules: [{ ...rule, resourceNames: ['p'] }] }, {}, false],
  ['another excluded name', { ...rules({}), excludeResourceRules: [{ ...rule, resourceNames: ['o'] }] }, {}, true],
  [
    'the labels of the object',
    { ...rules({}), objectSelector: { matchLabels: { a: 'b' } } },
    { object: labelled({ a: 'b' }) },
    true,
  ],
  [
    'other labels',
    { ...rules({}), objectSelector: { matchLabels: { a: 'b' } } },
    { object: labelled({ a: 'c' }) },
    false,
  ],
  [
    'no labels and an expression that holds without',
    { ...rules({}), objectSelector: { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] } },
    {},
    true,
  ],
  [
    'labels that the update removes',
    { ...rules({ operations: ['*'] }), objectSelector: { matchLabels: { a: 'b' } } },
    update,
    true,
  ],
  ['the labels of the namespace', { ...rules({}), namespaceSelector: { matchLabels: { team: 'a' } } }, {}, true],
  ['other labels of the namespace', { ...rules({}), namespaceSelector: { matchLabels: { team: 'b' } } }, {}, false],
  [
    'namespaces, for a cluster-scoped object',
    { ...rules(everything), namespaceSelector: { matchLabels: { team: 'b' } } },
    nodes,
    true,
  ],
  [
    'the labels that a new Namespace is given',
    { ...rules(everything), namespaceSelector: { matchLabels: { team: 'b' } } },
    namespaces,
    true,
  ],
  [
    'other labels of a new Namespace',
    { ...rules(everything), namespaceSelector: { matchLabels: { team: 'a' } } },
    namespaces,
    false,
  ],
])('a policy that selects %s', async (_what, match, given, want) => expect(await isRefused(match, given)).toBe(want));

it('the rules of a binding narrow those of the policy', async () => {
  const matching = (change: object) => isRefused(rules({}), {}, { matchResources: rules(change) });
  expect(await matching({})).toBe(true);
  expect(await matching({ operations: ['DELETE'] })).toBe(false);
  expect(await isRefused(rules({ operations: ['DELETE'] }), {}, { matchResources: rules({}) })).toBe(false);
});

it.each(['validatingadmissionpolicies', 'mutatingadmissionpolicybindings'])('no policy selects %s', async (plural) => {
  const group = 'admissionregistration.k8s.io';
  const given = { served: servedAs(group, 'v1', plural, 'Policy'), of: `${group}/${plural}`, clusterWide: true };
  expect(await isRefused(rules({ ...everything, resources: ['*/*'] }), given)).toBe(false);
});

it('policies select webhook configurations, which would evade them otherwise', async () => {
  const [group, plural] = ['admissionregistration.k8s.io', 'validatingwebhookconfigurations'];
  const served = servedAs(group, 'v1', plural, 'ValidatingWebhookConfiguration');
  expect(await isRefused(rules(everything), { served, of: `${group}/${plural}`, clusterWide: true })).toBe(true);
});

it('a selector that cannot be read refuses what the rules select, unless errors are ignored', async () => {
  const matchConstraints = { ...rules({}), objectSelector: { matchExpressions: [{ key: 'a', operator: 'Like' }] } };
  const { refused } = await enforcedOne({ matchConstraints });
  expect(refused).toContain('failed to configure policy: "Like" is not a valid label selector operator');
  expect((await enforcedOne({ matchConstraints, failurePolicy: 'Ignore' })).refused).toBeUndefined();
});
