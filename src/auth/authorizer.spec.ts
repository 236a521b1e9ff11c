import { everyRule, noRules, rulesFor, type Authorizer, type ResolvedRules } from './authorizer.js';

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
  expect(await rulesFor(authorizers, user, 'shop')).toEqual(want),
);
