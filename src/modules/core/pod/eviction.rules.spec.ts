import { ApiError } from '../../../machinery/api-error.js';
import type { KubeObject } from '../../../machinery/kube-object.js';
import { budgetsOf, goesUnasked, hasEnded, markedAsEvicted, mayGoUnready, takeDisruption } from './eviction.rules.js';

const now = '2026-01-02T03:04:05Z';
const pod = (status: object, labels = { app: 'a' }): KubeObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p', labels },
  status,
});
const budget = (spec: object, status: object = {}, generation = 1): KubeObject => ({
  kind: 'PodDisruptionBudget',
  apiVersion: 'policy/v1',
  metadata: { name: 'b', generation },
  spec,
  status,
});
const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const unready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] };

it.each<[object, boolean, boolean]>([
  [{ phase: 'Pending' }, true, false],
  [{ phase: 'Running' }, false, false],
  [{ phase: 'Succeeded' }, true, true],
  [{ phase: 'Failed' }, true, true],
])('a pod with %j', (status, unasked, ended) =>
  expect([goesUnasked(pod(status)), hasEnded(pod(status))]).toEqual([unasked, ended]),
);

it.each<[object | undefined, number]>([
  [{ matchLabels: { app: 'a' } }, 1],
  [{ matchLabels: { app: 'b' } }, 0],
  [{}, 1],
  [undefined, 0],
  [{ matchExpressions: [{ key: 'app', operator: 'Odd' }] }, 0],
])('the selector %j finds %d budget', (selector, want) =>
  expect(budgetsOf(pod(ready), [budget({ selector })])).toHaveLength(want),
);

it('has no budget without labels', () =>
  expect(budgetsOf({ ...pod(ready), metadata: { name: 'p' } }, [budget({ selector: {} })])).toEqual([]));

it.each<[string, object, object, object, boolean]>([
  ['ready', ready, { unhealthyPodEvictionPolicy: 'AlwaysAllow' }, {}, false],
  ['unready, always', unready, { unhealthyPodEvictionPolicy: 'AlwaysAllow' }, {}, true],
  ['unready, enough others', unready, {}, { currentHealthy: 2, desiredHealthy: 2 }, true],
  ['unready, not enough', unready, {}, { currentHealthy: 1, desiredHealthy: 2 }, false],
  ['unready, none wanted', unready, {}, { currentHealthy: 1, desiredHealthy: 0 }, false],
])('%s', (_name, podStatus, spec, status, want) =>
  expect(mayGoUnready(pod(podStatus), budget(spec, status))).toBe(want),
);

const refusal = (given: KubeObject): object => {
  try {
    takeDisruption(given, 'p', now);
    return {};
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, details } = error;
    return { code, cause: details?.causes?.[0]?.message, retry: details?.retryAfterSeconds };
  }
};

it.each<[string, KubeObject, object]>([
  [
    'not counted since it changed',
    budget({}, { observedGeneration: 1, disruptionsAllowed: 1 }, 2),
    { code: 429, cause: 'The disruption budget b is still being processed by the server.', retry: 10 },
  ],
  [
    'used up',
    budget({}, { observedGeneration: 1, disruptionsAllowed: 0, desiredHealthy: 2, currentHealthy: 2 }),
    { code: 429, cause: 'The disruption budget b needs 2 healthy pods and has 2 currently', retry: undefined },
  ],
  [
    'could not be counted',
    budget(
      {},
      {
        observedGeneration: 1,
        disruptionsAllowed: 0,
        conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed', message: 'no scale' }],
      },
    ),
    {
      code: 429,
      cause: 'The disruption budget b does not allow evicting pods currently because it failed sync: no scale',
      retry: undefined,
    },
  ],
  ['below nothing', budget({}, { observedGeneration: 1, disruptionsAllowed: -1 }), { code: 403 }],
])('is refused: %s', (_name, given, want) => expect(refusal(given)).toEqual(want));

it('gives one of two', () =>
  expect(takeDisruption(budget({}, { observedGeneration: 1, disruptionsAllowed: 2 }), 'p', now)['status']).toEqual({
    observedGeneration: 1,
    disruptionsAllowed: 1,
    disruptedPods: { p: now },
  }));

it('says when it gave the last one', () => {
  const given = budget({}, { observedGeneration: 1, disruptionsAllowed: 1, disruptedPods: { o: now } });
  expect(takeDisruption(given, 'p', now)['status']).toEqual({
    observedGeneration: 1,
    disruptionsAllowed: 0,
    disruptedPods: { o: now, p: now },
    conditions: [
      {
        type: 'DisruptionAllowed',
        status: 'False',
        observedGeneration: 1,
        lastTransitionTime: now,
        reason: 'InsufficientPods',
        message: '',
      },
    ],
  });
});

it('marks the pod once', () => {
  const once = markedAsEvicted(pod(ready), now);
  const twice = markedAsEvicted(once, now);
  expect(twice['status']).toEqual(once['status']);
  expect((once['status'] as { conditions: unknown[] }).conditions).toHaveLength(2);
});
