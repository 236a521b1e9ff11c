import type { KubeObject, OwnerReference } from '../../machinery/kube-object.js';
import { decide, failedStatus, podFacts, type PodFacts, type Scale } from './decide.js';

const now = '2026-01-01T00:10:00Z';
const nowMs = Date.parse(now);
const before = (seconds: number) => `${new Date(nowMs - seconds * 1000).toISOString().slice(0, 19)}Z`;

const controller = (uid: string): OwnerReference => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  name: uid,
  uid,
  controller: true,
});
const pod = (name: string, more: Partial<PodFacts> = {}): PodFacts => ({
  name,
  labels: {},
  isReady: true,
  isDeleting: false,
  controller: controller('rs'),
  ...more,
});
const pods = (ready: number, unready = 0) => [
  ...Array.from({ length: ready }, (_, index) => pod(`r${index}`)),
  ...Array.from({ length: unready }, (_, index) => pod(`u${index}`, { isReady: false })),
];
const scales: Record<string, Scale> = { rs: { uid: 'rs', replicas: 5 }, other: { uid: 'other', replicas: 2 } };
const scaleOf = ({ uid }: OwnerReference) => scales[uid];
const budget = (spec: object, status: object = {}): KubeObject => ({
  kind: 'PodDisruptionBudget',
  apiVersion: 'policy/v1',
  metadata: { name: 'b', generation: 3 },
  spec,
  status,
});
const counts = (given: KubeObject, of: readonly PodFacts[]) => {
  const { status } = decide(given, of, { scaleOf, nowMs, now });
  const fields = ['expectedPods', 'desiredHealthy', 'currentHealthy', 'disruptionsAllowed'] as const;
  return fields.map((field) => status?.[field]);
};

it.each<[string, object, PodFacts[], number[]]>([
  ['minAvailable 2 of 3', { minAvailable: 2 }, pods(3), [3, 2, 3, 1]],
  ['minAvailable 2 of 2 ready, 3 not', { minAvailable: 2 }, pods(2, 3), [5, 2, 2, 0]],
  ['minAvailable 2 of 1', { minAvailable: 2 }, pods(1), [1, 2, 1, 0]],
  ['minAvailable 50% of 5, rounded up', { minAvailable: '50%' }, pods(5), [5, 3, 5, 2]],
  ['minAvailable 100%', { minAvailable: '100%' }, pods(5), [5, 5, 5, 0]],
  ['maxUnavailable 1 of 5', { maxUnavailable: 1 }, pods(5), [5, 4, 5, 1]],
  ['maxUnavailable 1 of 5, 4 ready', { maxUnavailable: 1 }, pods(4, 1), [5, 4, 4, 0]],
  ['maxUnavailable 30%, rounded up', { maxUnavailable: '30%' }, pods(5), [5, 3, 5, 2]],
  ['maxUnavailable more than all', { maxUnavailable: 9 }, pods(5), [5, 0, 5, 5]],
  ['maxUnavailable 0', { maxUnavailable: 0 }, pods(5), [5, 5, 5, 0]],
  ['no Pods', { minAvailable: 0 }, [], [0, 0, 0, 0]],
  ['no Pods and a percentage', { minAvailable: '10%' }, [], [0, 0, 0, 0]],
  ['neither minAvailable nor maxUnavailable', {}, pods(2), [0, 0, 2, 0]],
  ['a Pod that is being deleted', { minAvailable: 1 }, [...pods(2), pod('g', { isDeleting: true })], [3, 1, 2, 1]],
  ['two controllers', { maxUnavailable: 1 }, [...pods(2), pod('o', { controller: controller('other') })], [7, 6, 3, 0]],
  ['a Pod without a controller', { maxUnavailable: 1 }, [pod('lone', { controller: undefined })], [0, 0, 1, 0]],
])('the counters with %s', (_what, spec, of, want) => expect(counts(budget(spec), of)).toEqual(want));

it('a Pod whose eviction was granted is not counted as healthy for two minutes', () => {
  const disruptedPods = { r0: before(60), r1: before(121), gone: before(1) };
  const { status, againInMs } = decide(budget({ minAvailable: 1 }, { disruptedPods }), pods(3), {
    scaleOf,
    nowMs,
    now,
  });
  expect(status).toMatchObject({ disruptedPods: { r0: before(60) }, currentHealthy: 2, disruptionsAllowed: 1 });
  expect(againInMs).toBe(60_001);
});

it('lastTransitionTime of the condition changes with its status only', () => {
  const first = decide(budget({ minAvailable: 1 }), pods(2), { scaleOf, nowMs, now }).status!;
  expect(first['conditions']).toEqual([
    {
      type: 'DisruptionAllowed',
      status: 'True',
      observedGeneration: 3,
      lastTransitionTime: now,
      reason: 'SufficientPods',
      message: '',
    },
  ]);
  const later = { scaleOf, nowMs, now: 'later' };
  expect(decide(budget({ minAvailable: 1 }, first), pods(2), later).status).toBeUndefined();
  expect(decide(budget({ minAvailable: 1 }, first), pods(3), later).status).toMatchObject({
    conditions: [{ status: 'True', lastTransitionTime: now }],
  });
  expect(decide(budget({ minAvailable: 1 }, first), pods(1), later).status).toMatchObject({
    conditions: [{ status: 'False', lastTransitionTime: 'later', reason: 'InsufficientPods' }],
  });
});

it('without the controller of a Pod no disruption is allowed, and the condition has the error', () => {
  const lost = [pod('p', { controller: controller('gone') })];
  const given = budget({ maxUnavailable: 1 }, { disruptionsAllowed: 4, observedGeneration: 2 });
  const compute = () => decide(given, lost, { scaleOf, nowMs, now });
  expect(compute).toThrow('found no controllers for pod "p"');
  const failed = failedStatus(given, 'found no controllers for pod "p"', now)!;
  expect(failed).toMatchObject({
    disruptionsAllowed: 0,
    observedGeneration: 2,
    conditions: [{ status: 'False', reason: 'SyncFailed', message: 'found no controllers for pod "p"' }],
  });
  expect(failedStatus({ ...given, status: failed }, 'found no controllers for pod "p"', 'later')).toBeUndefined();
});

it.each([
  [{ conditions: [{ type: 'Ready', status: 'True' }] }, true],
  [{ conditions: [{ type: 'Ready', status: 'False' }] }, false],
  [{}, false],
])('a Pod with status %j is ready: %s', (status, want) =>
  expect(podFacts({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p' }, status }).isReady).toBe(want),
);
