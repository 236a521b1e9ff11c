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

it('completes what is not said', () => {
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
  ['all it needs', {}, []],
  ['a short name', { name: 'a.b' }, ['at least three segments']],
  ['no name', { name: '' }, ['webhooks[0].name: Required value']],
  ['side effects', { sideEffects: 'Some' }, ['sideEffects: Unsupported value: "Some"']],
  ['side effects unsaid', { sideEffects: undefined }, ['must specify one of None, NoneOnDryRun']],
  ['no versions', { admissionReviewVersions: [] }, ['must specify one of v1, v1beta1']],
  ['versions to come', { admissionReviewVersions: ['v7'] }, ['must include at least one of v1, v1beta1']],
  ['a version twice', { admissionReviewVersions: ['v1', 'v1'] }, ['admissionReviewVersions[1]: Duplicate value']],
  ['much time', { timeoutSeconds: 31 }, ['the timeout value must be between 1 and 30 seconds']],
  ['nobody to ask', { clientConfig: {} }, ['exactly one of url or service is required']],
  ['plain HTTP', withUrl('http://x'), ['"http": \'https\' is the only allowed URL scheme']],
  ['a user in the URL', withUrl('https://me:it@x/y'), ['"me:it": user information']],
  ['a query', withUrl('https://x/?a=b#c'), ['fragments', '"a=b": query parameters']],
  ['no host', withUrl('https:///x'), ['host must be specified']],
  [
    'an odd path',
    { clientConfig: { service: { ...service, path: 'x//' } } },
    ["start with a '/'", 'segment[0]', 'segment[1]'],
  ],
  [
    'another policy',
    { failurePolicy: 'X' },
    ['failurePolicy: Unsupported value: "X": supported values: "Fail", "Ignore"'],
  ],
  ['no operations', { rules: [{ ...rule, operations: [] }] }, ['operations: Required value']],
  ['an HTTP method', { rules: [{ ...rule, operations: ['GET'] }] }, ['operations[0]: Unsupported value: "GET"']],
  [
    'all groups and one',
    { rules: [{ ...rule, apiGroups: ['*', 'a'] }] },
    ["if '*' is present, must not specify other API groups"],
  ],
  [
    'all resources and one',
    { rules: [{ ...rule, resources: ['*', 'pods'] }] },
    ['other resources without subresources'],
  ],
  [
    'all of a resource and one',
    { rules: [{ ...rule, resources: ['pods/*', 'pods/log'] }] },
    ["if 'pods/*' is present"],
  ],
  ['all there is and one', { rules: [{ ...rule, resources: ['*/*', 'pods'] }] }, ["if '*/*' is present"]],
  ['another scope', { rules: [{ ...rule, scope: 'X' }] }, ['scope: Unsupported value: "X"']],
  ['a nameless condition', { matchConditions: [{ expression: 'true' }] }, ['matchConditions[0].name: Required value']],
  ['an empty condition', { matchConditions: [{ name: 'a', expression: ' ' }] }, ['expression: Required value']],
])('a webhook with %s', (_what, rest, want) =>
  expect(refusals(validating, configuration({ ...webhook, ...rest }))).toEqual(
    want.map((text) => expect.stringContaining(text) as string),
  ),
);

it('mutating ones say whether they are asked again', () =>
  expect(refusals(mutating, configuration({ ...webhook, reinvocationPolicy: 'X' }))).toEqual([
    'webhooks[0].reinvocationPolicy: Unsupported value: "X": supported values: "IfNeeded", "Never"',
  ]));

it('names are told apart, except where they never were', () => {
  const twice = configuration(webhook, webhook);
  expect(refusals(validating, twice)).toEqual(['webhooks[1].name: Duplicate value: "a.example.com"']);
  expect(updateRefusals(validating, twice, configuration(webhook))).toHaveLength(1);
  expect(updateRefusals(validating, twice, twice)).toEqual([]);
});

it('what was accepted once may stay', () => {
  const old = configuration({ ...webhook, sideEffects: 'Some', admissionReviewVersions: ['v7'] });
  expect(updateRefusals(validating, old, old)).toEqual([]);
  expect(updateRefusals(validating, old, configuration(webhook))).toHaveLength(2);
});

it('counts its webhooks in a table', () =>
  expect(webhookConfigurationTable.cells(configuration(webhook, webhook), { nowMs: 0 })).toEqual([
    'c',
    2,
    '<unknown>',
  ]));
