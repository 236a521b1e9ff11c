import { ApiError } from '../../../machinery/api-error.js';
import type { KubeObject } from '../../../machinery/kube-object.js';
import {
  budgetsOf,
  canIgnoreBudgets,
  hasEnded,
  isUnreadyEvictionAllowed,
  takeDisruption,
  withDisruptionTarget,
} from './eviction.rules.js';

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
])('Pod with status %j ignores budgets or not, and has ended or not', (status, ignores, ended) =>
  expect([canIgnoreBudgets(pod(status)), hasEnded(pod(status))]).toEqual([ignores, ended]),
);

it.each<[object | undefined, number]>([
  [{ matchLabels: { app: 'a' } }, 1],
  [{ matchLabels: { app: 'b' } }, 0],
  [{}, 1],
  [undefined, 0],
  [{ matchExpressions: [{ key: 'app', operator: 'Odd' }] }, 0],
])('selector %j matches %d budgets', (selector, want) =>
  expect(budgetsOf(pod(ready), [budget({ selector })])).toHaveLength(want),
);

it('Pod without labels has no budget', () =>
  expect(budgetsOf({ ...pod(ready), metadata: { name: 'p' } }, [budget({ selector: {} })])).toEqual([]));

it.each<[string, object, object, object, boolean]>([
  ['ready Pod with AlwaysAllow needs the budget', ready, { unhealthyPodEvictionPolicy: 'AlwaysAllow' }, {}, false],
  ['unready Pod with AlwaysAllow is allowed', unready, { unhealthyPodEvictionPolicy: 'AlwaysAllow' }, {}, true],
  ['unready Pod with enough healthy Pods is allowed', unready, {}, { currentHealthy: 2, desiredHealthy: 2 }, true],
  [
    'unready Pod with too few healthy Pods needs the budget',
    unready,
    {},
    { currentHealthy: 1, desiredHealthy: 2 },
    false,
  ],
  ['unready Pod with desiredHealthy 0 needs the budget', unready, {}, { currentHealthy: 1, desiredHealthy: 0 }, false],
])('%s', (_name, podStatus, spec, status, want) =>
  expect(isUnreadyEvictionAllowed(pod(podStatus), budget(spec, status))).toBe(want),
);

const errorOf = (object: KubeObject): object => {
  try {
    takeDisruption(object, 'p', now);
    return {};
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, details } = error;
    return { code, cause: details?.causes?.[0]?.message, retry: details?.retryAfterSeconds };
  }
};

it.each<[string, KubeObject, object]>([
  [
    'of an earlier generation is 429 with Retry-After',
    budget({}, { observedGeneration: 1, disruptionsAllowed: 1 }, 2),
    { code: 429, cause: 'The disruption budget b is still being processed by the server.', retry: 10 },
  ],
  [
    'with disruptionsAllowed 0 is 429',
    budget({}, { observedGeneration: 1, disruptionsAllowed: 0, desiredHealthy: 2, currentHealthy: 2 }),
    { code: 429, cause: 'The disruption budget b needs 2 healthy pods and has 2 currently', retry: undefined },
  ],
  [
    'that failed sync is 429 with its message',
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
  [
    'with negative disruptionsAllowed is 403',
    budget({}, { observedGeneration: 1, disruptionsAllowed: -1 }),
    { code: 403 },
  ],
])('disruption of a budget %s', (_name, object, want) => expect(errorOf(object)).toEqual(want));

it('takeDisruption() decrements disruptionsAllowed and records the Pod', () =>
  expect(takeDisruption(budget({}, { observedGeneration: 1, disruptionsAllowed: 2 }), 'p', now)['status']).toEqual({
    observedGeneration: 1,
    disruptionsAllowed: 1,
    disruptedPods: { p: now },
  }));

it('takeDisruption() of the last one sets DisruptionAllowed to False', () => {
  const object = budget({}, { observedGeneration: 1, disruptionsAllowed: 1, disruptedPods: { o: now } });
  expect(takeDisruption(object, 'p', now)['status']).toEqual({
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

it('withDisruptionTarget() adds its condition once', () => {
  const once = withDisruptionTarget(pod(ready), now);
  const twice = withDisruptionTarget(once, now);
  expect(twice['status']).toEqual(once['status']);
  expect((once['status'] as { conditions: unknown[] }).conditions).toHaveLength(2);
});
