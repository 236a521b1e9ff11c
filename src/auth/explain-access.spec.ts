import { AuthorizerChain } from './authorizer-chain.js';
import type { Authorization, AuthorizationAttributes, Authorizer } from './authorizer.js';
import { explainAccess } from './explain-access.js';

const attributes: AuthorizationAttributes = {
  user: { name: 'ann', uid: '', groups: [], extra: {} },
  isResourceRequest: true,
  ...{
    verb: 'get',
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource: '',
    namespace: 'shop',
    name: 'p',
    path: '',
  },
};

const answering = (name: string, answer: Authorization | Promise<Authorization>): Authorizer => ({
  name,
  authorize: () => answer,
});
const allow: Authorization = { decision: 'allow', reason: 'yes' };
const deny: Authorization = { decision: 'deny', reason: 'never' };
const silent: Authorization = { decision: 'no opinion', reason: 'unknown' };

it.each<[string, Authorizer[], [decision: string, reason: string], string[]]>([
  [
    'the first decision counts',
    [answering('a', silent), answering('b', allow), answering('c', deny)],
    ['allow', 'yes'],
    ['no opinion', 'allow', 'not asked'],
  ],
  [
    'a later answer is awaited',
    [answering('a', Promise.resolve(deny)), answering('b', allow)],
    ['deny', 'never'],
    ['deny', 'not asked'],
  ],
  [
    'reasons without opinion are joined',
    [answering('a', silent), answering('b', silent)],
    ['no opinion', 'unknown\nunknown'],
    ['no opinion', 'no opinion'],
  ],
])('%s', async (_title, authorizers, want, decisions) => {
  // prettier-ignore
  const { decision, reason, explanation } = await explainAccess(new AuthorizerChain(authorizers), attributes);
  expect([decision, reason]).toEqual(want);
  expect(explanation.authorizers.map((one) => one.decision)).toEqual(decisions);
  expect(explanation.requiredRule).toEqual({ apiGroups: [''], resources: ['pods'], resourceNames: ['p'], verbs: ['get'] }); // prettier-ignore
});

it('an authorizer that fails ends the explanation, and the chain is released', async () => {
  const chain = new AuthorizerChain([answering('a', Promise.reject(new Error('no connection')))]);
  let closed = false;
  const explained = explainAccess(chain, attributes);
  chain.whenReleased(() => (closed = true));
  expect(closed).toBe(false);
  await expect(explained).rejects.toThrow('no connection');
  expect(closed).toBe(true);
});

it('the lists of a rule are cut after 100 values', async () => {
  const resourceNames = Array.from({ length: 50_000 }, (_, index) => `n${index}`);
  const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames, nonResourceURLs: [] };
  const role = { kind: 'Role', namespace: 'shop', name: 'r' };
  const granting: Authorizer = { ...answering('RBAC', allow), grantFor: () => ({ binding: role, role, rule }) };
  const { explanation } = await explainAccess(new AuthorizerChain([granting]), attributes);
  const shown = explanation.authorizers[0]!.grant!.rule;
  expect(shown.resourceNames).toHaveLength(101);
  expect(shown.resourceNames.at(-1)).toBe('… 49900 more');
  expect(shown.resources).toEqual(['pods']);
});
