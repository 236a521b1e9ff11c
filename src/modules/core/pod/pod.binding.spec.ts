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

function errorOf(run: () => unknown): string {
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
])('Binding to %j has the error %j', (target, want) =>
  expect(errorOf(() => checkBinding(binding(target), 'p'))).toBe(want),
);

const conflict = (message: string) => `409 Operation cannot be fulfilled on pods/binding "p": ${message}`;
it.each<[string, KubeObject, object, string]>([
  ['unbound Pod is bound', pod(), {}, ''],
  ['Pod with the uid and resourceVersion of the Binding is bound', pod(), { uid: 'u', resourceVersion: '7' }, ''],
  ['bound Pod is a conflict (409)', pod({ nodeName: 'x' }), {}, conflict('pod p is already assigned to node "x"')],
  [
    'deleted Pod is a conflict (409)',
    pod({}, { deletionTimestamp: now }),
    {},
    conflict('pod p is being deleted, cannot be assigned to a host'),
  ],
  [
    'Pod with scheduling gates is a conflict (409)',
    pod({ schedulingGates: [{ name: 'g' }] }),
    {},
    conflict('pod p has non-empty .spec.schedulingGates'),
  ],
  [
    'Pod with another uid is a conflict (409)',
    pod(),
    { uid: 'v' },
    conflict('Precondition failed: UID in precondition: v, UID in object meta: u'),
  ],
])('%s', (_name, object, metadata, want) =>
  expect(errorOf(() => bindPod(object, binding(toNode, metadata), now))).toBe(want),
);

it('labels of the Binding replace those of the Pod, and PodScheduled keeps its place', () => {
  const object = pod({}, { labels: { a: 'pod', b: 'pod' } });
  const conditions = [
    { type: 'PodScheduled', status: 'False' },
    { type: 'Ready', status: 'False' },
  ];
  const bound = bindPod({ ...object, status: { conditions } }, binding(toNode, { labels: { a: 'binding' } }), now);
  expect(bound.metadata.labels).toEqual({ a: 'binding', b: 'pod' });
  expect(bound.status?.conditions?.map(({ type, status }) => [type, status])).toEqual([
    ['PodScheduled', 'True'],
    ['Ready', 'False'],
  ]);
});

it('bound Pod has nodeName, annotations of the Binding and the condition PodScheduled', () => {
  const object = pod({}, { annotations: { a: 'b' } });
  const before = structuredClone(object);
  expect(bindPod(object, binding(toNode, { annotations: { c: 'd' } }), now)).toEqual({
    ...pod({ nodeName: 'x' }, { annotations: { a: 'b', c: 'd' } }),
    status: {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now }],
    },
  });
  expect(object).toEqual(before);
});
