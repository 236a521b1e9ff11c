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
  ['nobody', [], noRules],
  ['two who say the same', [knowing(everyRule), knowing(everyRule)], everyRule],
  [
    'two who say different things',
    [knowing(everyRule), knowing({ ...noRules, resourceRules: [pods] })],
    { ...everyRule, resourceRules: [...everyRule.resourceRules, pods] },
  ],
  [
    'one who cannot tell',
    [silent, knowing(everyRule)],
    { ...everyRule, problem: 'webhook authorizer does not support user rule resolution' },
  ],
])('the rules of %s', async (_who, authorizers, want) =>
  expect(await rulesFor(authorizers, user, 'shop')).toEqual(want),
);
