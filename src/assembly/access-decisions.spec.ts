import type { AuthorizationAttributes, Authorizer } from '../auth/authorizer.js';
import { AuthorizerChain } from '../auth/authorizer-chain.js';
import type { AccessCheck } from '../cel/libraries/kubernetes/authorizer.js';
import { accessDecisions } from './access-decisions.js';

const user = { name: 'ann', uid: '', groups: ['staff'], extra: {} };
const check: AccessCheck = {
  verb: 'list',
  group: 'apps',
  resource: 'deployments',
  subresource: '',
  namespace: 'shop',
  name: '',
  fieldSelector: '',
  labelSelector: '',
};

async function askedBy(changes: Partial<AccessCheck>): Promise<AuthorizationAttributes> {
  const asked: AuthorizationAttributes[] = [];
  const authorizer: Authorizer = {
    name: 'test',
    authorize: (attributes) => (asked.push(attributes), { decision: 'allow', reason: 'yes' }),
  };
  const decision = await accessDecisions(new AuthorizerChain([authorizer]))(user, { ...check, ...changes });
  expect(decision).toEqual({ isAllowed: true, reason: 'yes' });
  return asked[0]!;
}

it.each<[fields: string, labels: string, want: (string | undefined)[]]>([
  ['', '', [undefined, undefined]],
  ['a=1', 'b,a', ['a=1', 'a,b']],
  ['a', '=', [undefined, undefined]],
])('fieldSelector(%j).labelSelector(%j) are attributes of the check', async (fieldSelector, labelSelector, want) => {
  const asked = await askedBy({ fieldSelector, labelSelector });
  expect([asked.fieldSelector?.toString(), asked.labelSelector?.toString()]).toEqual(want);
  expect(asked).toMatchObject({ user, verb: 'list', group: 'apps', resource: 'deployments', namespace: 'shop' });
});

it('a check of a service account is about its user and groups', async () => {
  const { user: account } = await askedBy({ serviceAccount: { namespace: 'shop', name: 'web' } });
  expect(account).toMatchObject({
    name: 'system:serviceaccount:shop:web',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:shop'],
  });
});

it('an authorizer that throws is an error of the decision', async () => {
  const broken: Authorizer = { name: 'test', authorize: () => Promise.reject(new Error('no connection')) };
  expect(await accessDecisions(new AuthorizerChain([broken]))(user, check)).toEqual({
    isAllowed: false,
    reason: '',
    error: 'no connection',
  });
});
