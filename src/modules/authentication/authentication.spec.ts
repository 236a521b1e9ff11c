import type { TokenVerdict } from '../../auth/authenticator.js';
import type { UserInfo } from '../../machinery/user-info.js';
import type { VirtualRequest } from '../../registry/apis/api-group.js';
import type { Clock } from '../../std/clock.js';
import { AuthenticationGroup } from './authentication.group.js';

const alice: UserInfo = { name: 'alice', uid: 'u-1', groups: ['dev'], extra: { scopes: ['a'] } };
const nobody: UserInfo = { name: 'nobody', uid: '', groups: [], extra: {} };
const clock = { now: () => Date.parse('2026-01-02T03:04:05Z') } as Clock;
const review = (kind: string, rest: object, user = alice): VirtualRequest =>
  ({
    context: { user },
    body: { kind, apiVersion: 'authentication.k8s.io/v1', metadata: {}, ...rest },
  }) as unknown as VirtualRequest;

it('SelfSubjectReview returns the requesting user, whatever the body says', async () => {
  const group = new AuthenticationGroup({ review: async () => ({ problems: [] }) }, clock);
  const { object } = await group.reviewSelf(review('SelfSubjectReview', { status: { userInfo: { username: 'x' } } }));
  expect(object).toEqual({
    kind: 'SelfSubjectReview',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { creationTimestamp: '2026-01-02T03:04:05Z' },
    status: { userInfo: { username: 'alice', uid: 'u-1', groups: ['dev'], extra: { scopes: ['a'] } } },
  });
  const { object: empty } = await group.reviewSelf(review('SelfSubjectReview', {}, nobody));
  expect(empty!['status']).toEqual({ userInfo: { username: 'nobody' } });
});

it.each<[string, TokenVerdict, object]>([
  [
    'valid',
    { user: alice, audiences: ['x'] },
    { authenticated: true, audiences: ['x'], user: expect.objectContaining({ username: 'alice' }) as unknown },
  ],
  ['refused by one authenticator', { problems: ['invalid bearer token'] }, { user: {}, error: 'invalid bearer token' }],
  ['refused by two authenticators', { problems: ['a', 'b'] }, { user: {}, error: '[a, b]' }],
])('TokenReview of a token that is %s', async (_what, verdict, want) => {
  const asked: unknown[] = [];
  const authenticator = {
    review: async (token: string, audiences: readonly string[]) => {
      asked.push(token, audiences);
      return verdict;
    },
  };
  const group = new AuthenticationGroup(authenticator, clock);
  const { object } = await group.reviewToken(review('TokenReview', { spec: { token: 't', audiences: ['x', 'y'] } }));
  expect(object!['status']).toEqual(want);
  expect(asked).toEqual(['t', ['x', 'y']]);
});

it('TokenReview without a token is refused (400)', async () => {
  const group = new AuthenticationGroup({ review: async () => ({ problems: [] }) }, clock);
  await expect(group.reviewToken(review('TokenReview', {}))).rejects.toThrow('token is required for TokenReview');
});
