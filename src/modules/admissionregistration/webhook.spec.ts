import type { KubeObject } from '../../machinery/kube-object.js';
import { prepared, refusals, updateRefusals } from '../../../test/harness/strategies.js';
import { webhookConfigurationStrategy } from './webhook-configuration.strategy.js';
import { webhookConfigurationTable } from './webhook-configuration.table.js';

const validating = webhookConfigurationStrategy({ mutates: false });
const mutating = webhookConfigurationStrategy({ mutates: true });
const rule = { operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] };
const service = { namespace: 'n', name: 's' };
const webhook = {
  name: 'a.example.com',
  clientConfig: { service },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  rules: [rule],
};
const configuration = (...webhooks: object[]): KubeObject => ({
  kind: 'ValidatingWebhookConfiguration',
  apiVersion: 'admissionregistration.k8s.io/v1',
  metadata: { name: 'c' },
  webhooks,
});

it('defaults of webhooks', () => {
  const complete = {
    ...webhook,
    clientConfig: { service: { ...service, port: 443 } },
    rules: [{ ...rule, scope: '*' }],
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
  };
  expect(prepared(validating, configuration(webhook))['webhooks']).toEqual([complete]);
  expect(prepared(mutating, configuration(webhook))['webhooks']).toEqual([
    { ...complete, reinvocationPolicy: 'Never' },
  ]);
});

const withUrl = (url: string) => ({ clientConfig: { url } });
it.each<[string, object, string[]]>([
  ['the required fields', {}, []],
  ['a name of two segments', { name: 'a.b' }, ['at least three segments']],
  ['no name', { name: '' }, ['webhooks[0].name: Required value']],
  ['side effects that are not harmless', { sideEffects: 'Some' }, ['sideEffects: Unsupported value: "Some"']],
  ['no sideEffects', { sideEffects: undefined }, ['must specify one of None, NoneOnDryRun']],
  ['no review versions', { admissionReviewVersions: [] }, ['must specify one of v1, v1beta1']],
  ['unknown review versions only', { admissionReviewVersions: ['v7'] }, ['must include at least one of v1, v1beta1']],
  [
    'one review version twice',
    { admissionReviewVersions: ['v1', 'v1'] },
    ['admissionReviewVersions[1]: Duplicate value'],
  ],
  ['too long a timeout', { timeoutSeconds: 31 }, ['the timeout value must be between 1 and 30 seconds']],
  ['no url and no service', { clientConfig: {} }, ['exactly one of url or service is required']],
  ['plain HTTP', withUrl('http://x'), ['"http": \'https\' is the only allowed URL scheme']],
  ['a user in the URL', withUrl('https://me:it@x/y'), ['"me:it": user information']],
  ['a query and a fragment in the URL', withUrl('https://x/?a=b#c'), ['fragments', '"a=b": query parameters']],
  ['no host in the URL', withUrl('https:///x'), ['host must be specified']],
  [
    'an invalid service path',
    { clientConfig: { service: { ...service, path: 'x//' } } },
    ["start with a '/'", 'segment[0]', 'segment[1]'],
  ],
  [
    'an unknown failurePolicy',
    { failurePolicy: 'X' },
    ['failurePolicy: Unsupported value: "X": supported values: "Fail", "Ignore"'],
  ],
  ['no operations', { rules: [{ ...rule, operations: [] }] }, ['operations: Required value']],
  ['an unknown operation', { rules: [{ ...rule, operations: ['GET'] }] }, ['operations[0]: Unsupported value: "GET"']],
  [
    'a wildcard and a group',
    { rules: [{ ...rule, apiGroups: ['*', 'a'] }] },
    ["if '*' is present, must not specify other API groups"],
  ],
  [
    'a wildcard and a resource',
    { rules: [{ ...rule, resources: ['*', 'pods'] }] },
    ['other resources without subresources'],
  ],
  [
    'all subresources of a resource and one',
    { rules: [{ ...rule, resources: ['pods/*', 'pods/log'] }] },
    ["if 'pods/*' is present"],
  ],
  [
    'all resources and subresources and one',
    { rules: [{ ...rule, resources: ['*/*', 'pods'] }] },
    ["if '*/*' is present"],
  ],
  ['an unknown scope', { rules: [{ ...rule, scope: 'X' }] }, ['scope: Unsupported value: "X"']],
  [
    'a condition without a name',
    { matchConditions: [{ expression: 'true' }] },
    ['matchConditions[0].name: Required value'],
  ],
  [
    'a condition without an expression',
    { matchConditions: [{ name: 'a', expression: ' ' }] },
    ['expression: Required value'],
  ],
])('a webhook with %s', (_what, rest, want) =>
  expect(refusals(validating, configuration({ ...webhook, ...rest }))).toEqual(
    want.map((text) => expect.stringContaining(text) as string),
  ),
);

it('reinvocationPolicy of mutating webhooks is validated', () =>
  expect(refusals(mutating, configuration({ ...webhook, reinvocationPolicy: 'X' }))).toEqual([
    'webhooks[0].reinvocationPolicy: Unsupported value: "X": supported values: "IfNeeded", "Never"',
  ]));

it('names are unique unless the old object repeats one', () => {
  const twice = configuration(webhook, webhook);
  expect(refusals(validating, twice)).toEqual(['webhooks[1].name: Duplicate value: "a.example.com"']);
  expect(updateRefusals(validating, twice, configuration(webhook))).toHaveLength(1);
  expect(updateRefusals(validating, twice, twice)).toEqual([]);
});

it('an update may keep side effects and versions that are invalid now', () => {
  const old = configuration({ ...webhook, sideEffects: 'Some', admissionReviewVersions: ['v7'] });
  expect(updateRefusals(validating, old, old)).toEqual([]);
  expect(updateRefusals(validating, old, configuration(webhook))).toHaveLength(2);
});

it('the table row of a configuration', () =>
  expect(webhookConfigurationTable.cells(configuration(webhook, webhook), { nowMs: 0 })).toEqual([
    'c',
    2,
    '<unknown>',
  ]));
