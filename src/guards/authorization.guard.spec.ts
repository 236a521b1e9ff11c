import type { ExecutionContext } from '@nestjs/common';
import { plainRefusal, type Authorization, type Authorizer } from '../auth/authorizer.js';
import { AuthorizerChain } from '../auth/authorizer-chain.js';
import { RequestState } from '../answers/request-state.js';
import { parseRequestInfo } from '../machinery/request-info.js';
import { AccessMetrics } from '../metrics/access-metrics.js';
import { ManualClock } from '../std/clock.js';
import { AuthorizationGuard } from './authorization.guard.js';

const kube = new RequestState(parseRequestInfo('GET', '/api/v1/namespaces/ns/pods/p'), 'id', new ManualClock());
const context = { getArgByIndex: () => ({ kube }) } as unknown as ExecutionContext;
const none: Authorization = { decision: 'no opinion', reason: 'nothing is known' };

function guarded(answer: () => Authorization | Promise<Authorization>) {
  let asked = 0;
  const authorizer: Authorizer = { name: 'Counting', authorize: () => (asked++, answer()) };
  const metrics = new AccessMetrics(new ManualClock());
  return {
    guard: new AuthorizationGuard(new AuthorizerChain([authorizer]), metrics, plainRefusal, 'authorization.k8s.io/'),
    asked: () => asked,
    metrics,
  };
}

it.each([
  ['an authorizer that allows at once', () => ({ decision: 'allow', reason: '' }) as const],
  ['an authorizer that allows later', () => Promise.resolve({ decision: 'allow', reason: '' } as const)],
])('%s is asked once', async (_what, answer) => {
  const { guard, asked } = guarded(answer);
  expect([await guard.canActivate(context), asked()]).toEqual([true, 1]);
});

it.each([
  ['an authorizer without opinion', () => none],
  ['an authorizer without opinion later', () => Promise.resolve(none)],
])('%s is asked once, and the request is refused (403)', async (_what, answer) => {
  const { guard, asked } = guarded(answer);
  const activated = (async () => guard.canActivate(context))();
  await expect(activated).rejects.toMatchObject({ code: 403, message: expect.stringContaining('nothing is known') as string }); // prettier-ignore
  expect(asked()).toBe(1);
});

it.each([
  ['at once', () => { throw new Error('broken'); }], // prettier-ignore
  ['later', () => Promise.reject(new Error('broken'))],
])('an authorizer that fails %s is counted as an error', async (_when, answer) => {
  const { guard, metrics } = guarded(answer);
  const activated = (async () => guard.canActivate(context))();
  await expect(activated).rejects.toThrow('broken');
  const attempts = metrics.families().find(({ name }) => name === 'authorization_attempts_total')!;
  expect([...attempts.samples()]).toEqual([{ labels: { result: 'error' }, value: 1 }]);
});
