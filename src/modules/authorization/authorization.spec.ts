import type { AuthorizationAttributes, Authorizer } from '../../auth/authorizer.js';
import { AuthorizerChain } from '../../auth/authorizer-chain.js';
import { ApiError } from '../../machinery/api-error.js';
import { emptyQuery } from '../../machinery/query.js';
import type { VirtualRequest } from '../../registry/apis/api-group.js';
import { AuthorizationGroup } from './authorization.group.js';

const asker = { name: 'asker', uid: '', groups: [], extra: {} };
const group = 'authorization.k8s.io';

function world() {
  const asked: AuthorizationAttributes[] = [];
  const authorizer: Authorizer = {
    name: 'test',
    authorize(attributes) {
      asked.push(attributes);
      if (attributes.verb === 'fail') return { decision: 'deny', reason: 'no', evaluationError: 'it is down' };
      if (attributes.verb === 'forbid') return { decision: 'deny', reason: 'no' };
      return attributes.verb === 'get' ? { decision: 'allow', reason: 'yes' } : { decision: 'no opinion', reason: '' };
    },
    rulesFor: (user, namespace) => ({
      resourceRules: [{ verbs: [user.name], apiGroups: [namespace], resources: [] }],
      nonResourceRules: [],
    }),
  };
  return { asked, reviews: new AuthorizationGroup(new AuthorizerChain([authorizer])) };
}

const review = (kind: string, spec: object, metadata: object = {}): VirtualRequest =>
  ({
    context: { user: asker },
    definition: { group },
    query: emptyQuery,
    body: { kind, apiVersion: `${group}/v1`, metadata, spec },
  }) as unknown as VirtualRequest;
const resource = (rest: object = {}) => ({ verb: 'get', resource: 'pods', namespace: 'shop', ...rest });

it.each<[string, object]>([
  ['get', { allowed: true, reason: 'yes' }],
  ['list', { allowed: false }],
  ['forbid', { allowed: false, denied: true, reason: 'no' }],
  ['fail', { allowed: false, denied: true, reason: 'no', evaluationError: 'it is down' }],
])('the status of a review of verb %s', async (verb, want) => {
  const { reviews } = world();
  const spec = { user: 'u', resourceAttributes: resource({ verb }) };
  expect((await reviews.reviewSubject(review('SubjectAccessReview', spec))).object!['status']).toEqual(want);
});

it('the authorizers get the user and the attributes of the review', async () => {
  const { asked, reviews } = world();
  const extra = { scopes: ['a'] };
  const spec = {
    user: 'u',
    uid: '1',
    groups: ['g'],
    extra,
    resourceAttributes: resource({ group: 'apps', name: 'n' }),
  };
  await reviews.reviewSubject(review('SubjectAccessReview', spec));
  await reviews.reviewSelf(review('SelfSubjectAccessReview', { nonResourceAttributes: { path: '/x', verb: 'get' } }));
  expect(asked).toMatchObject([
    {
      user: { name: 'u', uid: '1', groups: ['g'], extra },
      isResourceRequest: true,
      group: 'apps',
      resource: 'pods',
      name: 'n',
      namespace: 'shop',
    },
    { user: asker, isResourceRequest: false, path: '/x', verb: 'get' },
  ]);
});

const both = { resourceAttributes: resource(), nonResourceAttributes: { path: '/', verb: 'get' } };
const selecting = (labelSelector: object) => ({ user: 'u', resourceAttributes: resource({ labelSelector }) });
const requirement = { key: 'a', operator: 'In', values: ['b'] };
it.each<[string, object, object, string[]]>([
  [
    'no user and no groups',
    { resourceAttributes: resource() },
    {},
    ['spec.user: Invalid value: "": at least one of user or group'],
  ],
  ['no attributes', { user: 'u' }, {}, ['spec.resourceAttributes: Invalid value: null: exactly one of']],
  [
    'both kinds of attributes',
    { user: 'u', ...both },
    {},
    ['spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":"get"}'],
  ],
  [
    'a name in metadata',
    { user: 'u', resourceAttributes: resource() },
    { name: 'x' },
    ['metadata: Invalid value: {"name":"x"}'],
  ],
  [
    'a raw selector and requirements',
    selecting({ rawSelector: 'a', requirements: [requirement] }),
    {},
    ['labelSelector.rawSelector'],
  ],
  ['an empty selector', selecting({}), {}, ['requirements or rawSelector is required']],
  ['a selector without key', selecting({ requirements: [{ operator: 'Exists' }] }), {}, ['key: Inv', 'key: Inv']],
  ['an unknown operator', selecting({ requirements: [{ key: 'a', operator: 'Like' }] }), {}, []],
])('a review with %s is validated', async (_what, spec, metadata, want) => {
  const { reviews } = world();
  const refused = await reviews.reviewSubject(review('SubjectAccessReview', spec, metadata)).then(
    () => [],
    (error: unknown) => causesOf(error),
  );
  expect(refused).toEqual(want.map((text) => expect.stringContaining(text) as string));
});

it('a LocalSubjectAccessReview must be about its namespace', async () => {
  const { reviews } = world();
  const ask = (attributes: object) =>
    reviews.reviewLocally(review('LocalSubjectAccessReview', { user: 'u', ...attributes }, { namespace: 'shop' })).then(
      ({ object }) => object!['status'],
      (error: unknown) => causesOf(error),
    );
  expect(await ask({ resourceAttributes: resource() })).toEqual({ allowed: true, reason: 'yes' });
  expect(await ask({ resourceAttributes: resource({ namespace: 'other' }) })).toEqual([
    'spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace',
  ]);
  expect(await ask({ nonResourceAttributes: { path: '/', verb: 'get' } })).toEqual([
    'spec.nonResourceAttributes: Invalid value: {"Path":"/","Verb":"get"}: disallowed on this kind of request',
  ]);
});

const expression = (operator: string, ...values: string[]) => ({ key: 'a', operator, values });
const ignored = (selector: string, how: string) => `spec.resourceAttributes.${selector} ${how} due to parse error`;
it.each<[what: string, selectors: object, fields: string | undefined, labels: string | undefined, problem?: string]>([
  [
    'raw',
    { fieldSelector: { rawSelector: 'b!=,a=1' }, labelSelector: { rawSelector: 'b,a in (2,1)' } },
    'a=1,b!=',
    'a in (1,2),b',
  ],
  [
    'requirements of labels',
    { labelSelector: { requirements: [expression('NotIn', 'y', 'x', 'x'), expression('Exists')] } },
    undefined,
    'a notin (x,y),a',
  ],
  [
    'requirements of fields',
    { fieldSelector: { requirements: [expression('In', 'x'), expression('NotIn', 'y')] } },
    'a=x,a!=y',
    undefined,
  ],
  ['no selector', {}, undefined, undefined],
  ['a raw selector without requirements', { fieldSelector: { rawSelector: ',' } }, undefined, undefined],
  [
    'an invalid raw selector',
    { labelSelector: { rawSelector: 'a in (b' } },
    undefined,
    undefined,
    ignored('labelSelector', 'ignored'),
  ],
  [
    'two invalid ones',
    { labelSelector: { rawSelector: '=' }, fieldSelector: { rawSelector: '=\\' } },
    undefined,
    undefined,
    `${ignored('fieldSelector', 'ignored')}; ${ignored('labelSelector', 'ignored')}`,
  ],
  [
    'an unknown operator',
    { labelSelector: { requirements: [expression('Like'), expression('In', 'x')] } },
    undefined,
    'a in (x)',
    ignored('labelSelector', 'partially ignored'),
  ],
  [
    'an operator of the prototype',
    { labelSelector: { requirements: [expression('constructor')] } },
    undefined,
    undefined,
    ignored('labelSelector', 'ignored'),
  ],
  [
    'several values of a field',
    { fieldSelector: { requirements: [expression('In', 'x', 'y')] } },
    undefined,
    undefined,
    ignored('fieldSelector', 'ignored'),
  ],
  [
    'a field that must exist',
    { fieldSelector: { requirements: [expression('Exists'), expression('In', 'x')] } },
    'a=x',
    undefined,
    ignored('fieldSelector', 'partially ignored'),
  ],
])('a review with selectors: %s', async (_what, selectors, fields, labels, problem = '') => {
  const { asked, reviews } = world();
  const spec = { user: 'u', resourceAttributes: resource({ verb: 'list', ...selectors }) };
  const { object } = await reviews.reviewSubject(review('SubjectAccessReview', spec));
  expect([asked[0]!.fieldSelector?.toString(), asked[0]!.labelSelector?.toString()]).toEqual([fields, labels]);
  expect(object!['status']).toEqual({ allowed: false, ...(problem !== '' && { evaluationError: problem }) });
});

it('SelfSubjectRulesReview lists the rules of the user in a namespace', async () => {
  const { reviews } = world();
  const { object } = await reviews.listRules(review('SelfSubjectRulesReview', { namespace: 'shop' }));
  expect(object).toMatchObject({
    spec: {},
    status: {
      resourceRules: [{ verbs: ['asker'], apiGroups: ['shop'], resources: [] }],
      nonResourceRules: [],
      incomplete: false,
    },
  });
  await expect(reviews.listRules(review('SelfSubjectRulesReview', {}))).rejects.toThrow('no namespace on request');
});

function causesOf(error: unknown): string[] {
  if (!(error instanceof ApiError)) throw error;
  return (error.details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);
}
