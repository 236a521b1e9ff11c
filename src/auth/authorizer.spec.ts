import {
  authorize,
  everyRule,
  noRules,
  rulesFor,
  type Authorization,
  type AuthorizationAttributes,
  type Authorizer,
  type ResolvedRules,
} from './authorizer.js';
import { AuthorizerChain } from './authorizer-chain.js';

const user = { name: 'u', uid: '', groups: [], extra: {} };
const knowing = (rules: ResolvedRules): Authorizer => ({
  name: 'knowing',
  authorize: () => ({ decision: 'no opinion', reason: '' }),
  rulesFor: () => rules,
});
const silent: Authorizer = { name: 'webhook', authorize: () => ({ decision: 'no opinion', reason: '' }) };
const pods = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };

it.each<[string, Authorizer[], ResolvedRules]>([
  ['no authorizer', [], noRules],
  ['two authorizers with the same rules', [knowing(everyRule), knowing(everyRule)], everyRule],
  [
    'two authorizers with different rules',
    [knowing(everyRule), knowing({ ...noRules, resourceRules: [pods] })],
    { ...everyRule, resourceRules: [...everyRule.resourceRules, pods] },
  ],
  [
    'an authorizer that cannot list rules',
    [silent, knowing(everyRule)],
    { ...everyRule, problem: 'webhook authorizer does not support user rule resolution' },
  ],
])('rulesFor with %s', async (_who, authorizers, want) =>
  expect(await rulesFor(new AuthorizerChain(authorizers), user, 'shop')).toEqual(want),
);

describe('authorize', () => {
  const attributes: AuthorizationAttributes = {
    ...{ user, verb: 'get', isResourceRequest: true, group: '', version: 'v1', resource: 'pods' },
    ...{ subresource: '', namespace: '', name: '', path: '' },
  };
  const asked: string[] = [];
  const answering = (name: string, answer: Authorization, isAsync = false): Authorizer => ({
    name,
    authorize() {
      asked.push(name);
      return isAsync ? Promise.resolve(answer) : answer;
    },
  });
  const none = (reason = ''): Authorization => ({ decision: 'no opinion', reason });
  const failed = (error: string): Authorization => ({ ...none(error), evaluationError: error });
  const allow: Authorization = { decision: 'allow', reason: 'yes' };
  const deny: Authorization = { decision: 'deny', reason: 'no' };

  it.each<[string, Authorizer[], Authorization, boolean]>([
    ['none', [], none(), false],
    ['one that allows', [answering('a', allow), answering('b', deny)], allow, false],
    ['one without opinion, then one that denies', [answering('a', none('x')), answering('b', deny)], deny, false],
    ['two without opinion', [answering('a', none('x')), answering('b', none('y'))], none('x\ny'), false],
    ['two without opinion because of errors', [answering('a', failed('e')), answering('b', failed('f'), true)], { ...none('e\nf'), evaluationError: '[e, f]' }, true], // prettier-ignore
    ['one with an error, then one that allows', [answering('a', failed('e')), answering('b', allow)], allow, false],
    ['one that allows later', [answering('a', none('x')), answering('b', allow, true)], allow, true],
    ['three without opinion, one of them later', [answering('a', none('x')), answering('b', none('y'), true), answering('c', none('z'))], none('x\ny\nz'), true], // prettier-ignore
  ])('by %s asks each once, and returns a promise only if one did', async (_who, authorizers, want, isAsync) => {
    asked.length = 0;
    const answer = authorize(new AuthorizerChain(authorizers), attributes);
    expect([answer instanceof Promise, await answer]).toEqual([isAsync, want]);
    expect(asked).toEqual([...new Set(asked)]);
  });
});
