import { noOpinion, type Authorization, type Authorizer } from '../auth/authorizer.js';
import { everyRule } from '../auth/authorizer.js';
import { ManualClock } from '../std/clock.js';
import { AccessMetrics } from './access-metrics.js';

function world() {
  const clock = new ManualClock();
  const metrics = new AccessMetrics(clock);
  const samples = (name: string) =>
    [
      ...metrics
        .families()
        .find((family) => family.name === name)!
        .samples(),
    ].filter(({ suffix }) => suffix !== '_bucket');
  return { clock, metrics, samples };
}

it('counts authentication attempts by result and user, and their duration', () => {
  const { clock, metrics, samples } = world();
  for (const name of ['admin', 'kubelet', 'a@b.example', 'somebody', 'system:serviceaccount:a:b']) {
    metrics.authenticated('success', metrics.nowMs, name);
  }
  const begin = metrics.nowMs;
  clock.advance(250);
  metrics.authenticated('failure', begin);
  expect(samples('authentication_attempts')).toEqual([
    { labels: { result: 'success' }, value: 5 },
    { labels: { result: 'failure' }, value: 1 },
  ]);
  expect(samples('authenticated_user_requests')).toEqual([
    { labels: { username: 'admin' }, value: 1 },
    { labels: { username: 'kubelet' }, value: 1 },
    { labels: { username: 'email_id' }, value: 1 },
    { labels: { username: 'other' }, value: 2 },
  ]);
  expect(samples('authentication_duration_seconds')).toContainEqual({
    ...{ labels: { result: 'failure' }, value: 0.25, suffix: '_sum' },
  });
});

it('counts authorization decisions by authorizer and result', async () => {
  const { metrics, samples } = world();
  const answers: (Authorization | Promise<Authorization>)[] = [
    { decision: 'allow', reason: '' },
    Promise.resolve({ decision: 'deny', reason: 'x' }),
    noOpinion,
  ];
  const given: Authorizer = { name: 'RBAC', authorize: () => answers.shift()!, rulesFor: () => everyRule };
  const counted = metrics.counted(given);
  const seen = [];
  for (let n = 0; n < 3; n++) seen.push((await counted.authorize({} as never)).decision);
  expect(seen).toEqual(['allow', 'deny', 'no opinion']);
  expect(samples('apiserver_authorization_decisions_total')).toEqual([
    { labels: { type: 'RBAC', name: 'rbac', decision: 'allowed' }, value: 1 },
    { labels: { type: 'RBAC', name: 'rbac', decision: 'denied' }, value: 1 },
  ]);
  expect(counted.rulesFor!({} as never, '')).toBe(everyRule);
  for (const decision of ['allow', 'deny', 'no opinion', 'error'] as const) metrics.authorized(decision, 0);
  expect(samples('authorization_attempts_total').map(({ labels }) => labels['result'])).toEqual([
    ...['allowed', 'denied', 'no-opinion', 'error'],
  ]);
});

it('counts the decisions of a replaced webhook authorizer together, by its own name', () => {
  const { metrics, samples } = world();
  for (const decision of ['allow', 'deny', 'allow'] as const) {
    const webhook: Authorizer = { name: 'Policy', type: 'Webhook', authorize: () => ({ decision, reason: '' }) };
    void metrics.counted(webhook).authorize({} as never);
  }
  const labels = { type: 'Webhook', name: 'Policy' };
  expect(samples('apiserver_authorization_decisions_total')).toEqual([
    { labels: { ...labels, decision: 'allowed' }, value: 2 },
    { labels: { ...labels, decision: 'denied' }, value: 1 },
  ]);
});
