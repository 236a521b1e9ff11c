import { ApiError } from '../../../machinery/api-error.js';
import type { KubeObject } from '../../../machinery/kube-object.js';
import { bindPod, checkBinding } from './pod.binding.js';

const now = '2026-01-02T03:04:05Z';
const pod = (spec: object = {}, metadata: object = {}): KubeObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p', uid: 'u', resourceVersion: '7', ...metadata },
  spec,
  status: { phase: 'Pending', nominatedNodeName: 'm', conditions: [{ type: 'PodScheduled', status: 'False' }] },
});
const binding = (target: object, metadata: object = {}): KubeObject => ({
  kind: 'Binding',
  apiVersion: 'v1',
  metadata: { name: 'p', ...metadata },
  target,
});
const toNode = { kind: 'Node', name: 'x' };

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError) return `${error.code} ${error.message}`;
    throw error;
  }
  return '';
}

it.each<[object, string]>([
  [toNode, ''],
  [{ name: 'x' }, ''],
  [{}, '422 Binding "p" is invalid: target.name: Required value'],
  [
    { kind: 'Pod', name: 'x' },
    '422 Binding "p" is invalid: target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
  ],
])('a binding to %j', (target, want) => expect(refusal(() => checkBinding(binding(target), 'p'))).toBe(want));

const conflict = (message: string) => `409 Operation cannot be fulfilled on pods/binding "p": ${message}`;
it.each<[string, KubeObject, object, string]>([
  ['is free', pod(), {}, ''],
  ['is the one that is meant', pod(), { uid: 'u', resourceVersion: '7' }, ''],
  ['is bound', pod({ nodeName: 'x' }), {}, conflict('pod p is already assigned to node "x"')],
  ['goes', pod({}, { deletionTimestamp: now }), {}, conflict('pod p is being deleted, cannot be assigned to a host')],
  ['is gated', pod({ schedulingGates: [{ name: 'g' }] }), {}, conflict('pod p has non-empty .spec.schedulingGates')],
  ['is another', pod(), { uid: 'v' }, conflict('Precondition failed: UID in precondition: v, UID in object meta: u')],
])('a pod that %s', (_what, given, metadata, want) =>
  expect(refusal(() => bindPod(given, binding(toNode, metadata), now))).toBe(want),
);

it('is on its node, and says since when', () => {
  const given = pod({}, { annotations: { a: 'b' } });
  const before = structuredClone(given);
  expect(bindPod(given, binding(toNode, { annotations: { c: 'd' } }), now)).toEqual({
    ...pod({ nodeName: 'x' }, { annotations: { a: 'b', c: 'd' } }),
    status: {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now }],
    },
  });
  expect(given).toEqual(before);
});
