import type { Node } from '../../catalog/types/core.v1.js';
import { namingProfile } from '../../config/naming-profile.js';
import { silentConditions, taintsAfter, unreadyPod, type EvictionTaint } from './decide.js';

const naming = namingProfile('kubernetes');
const now = '2026-01-01T00:00:00Z';
const before = '2025-01-01T00:00:00Z';

type Conditions = Readonly<Record<string, string>>;
const nodeWith = (conditions: Conditions, spec: object = {}): Node => ({
  kind: 'Node',
  apiVersion: 'v1',
  metadata: { name: 'n', creationTimestamp: before },
  spec,
  status: { conditions: Object.entries(conditions).map(([type, status]) => ({ type, status })) },
});
const taint = (text: string) => {
  const [key = '', effect = ''] = text.split(':');
  return { key: `node.kubernetes.io/${key}`, effect };
};
const keys = (node: Node, eviction: EvictionTaint) =>
  taintsAfter(node, { eviction, now }, naming)?.map(
    ({ key = '', effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`,
  );

it.each<[string, Conditions, object, EvictionTaint, string[] | undefined]>([
  ['ready, without taints', { Ready: 'True' }, {}, 'removed', undefined],
  ['ready, tainted when it was created', { Ready: 'True' }, { taints: [taint('not-ready:NoSchedule')] }, 'removed', []],
  ['not ready', { Ready: 'False' }, {}, 'kept', ['not-ready:NoSchedule']],
  ['unreachable', { Ready: 'Unknown' }, {}, 'kept', ['unreachable:NoSchedule']],
  [
    'unreachable, to be evicted',
    { Ready: 'Unknown' },
    {},
    'added',
    ['unreachable:NoSchedule', 'unreachable:NoExecute'],
  ],
  [
    'not ready after it was unreachable: the taint that evicts changes its name at once',
    { Ready: 'False' },
    { taints: [taint('unreachable:NoSchedule'), taint('unreachable:NoExecute')] },
    'kept',
    ['not-ready:NoSchedule', 'not-ready:NoExecute'],
  ],
  [
    'ready again',
    { Ready: 'True' },
    { taints: [taint('unreachable:NoSchedule'), taint('unreachable:NoExecute'), taint('mine:NoExecute')] },
    'removed',
    ['mine:NoExecute'],
  ],
  ['under memory pressure', { Ready: 'True', MemoryPressure: 'True' }, {}, 'removed', ['memory-pressure:NoSchedule']],
  ['without network', { Ready: 'True', NetworkUnavailable: 'True' }, {}, 'removed', ['network-unavailable:NoSchedule']],
  ['unschedulable', { Ready: 'True' }, { unschedulable: true }, 'removed', ['unschedulable:NoSchedule']],
  [
    'schedulable again',
    { Ready: 'True' },
    { taints: [taint('unschedulable:NoSchedule'), taint('unschedulable:PreferNoSchedule')] },
    'removed',
    ['unschedulable:PreferNoSchedule'],
  ],
  ['without the condition Ready', {}, { taints: [taint('not-ready:NoSchedule')] }, 'kept', []],
])('taints of a Node that is %s', (_, conditions, spec, eviction, want) => {
  expect(keys(nodeWith(conditions, spec), eviction)).toEqual(want);
});

it('conditions of prototype names add no taint', () => {
  expect(keys(nodeWith({ constructor: 'name', __proto__: 'x', toString: 'True' }), 'added')).toBeUndefined();
});

it('a silent Node has unknown conditions, except that of the network', () => {
  const node = nodeWith({ Ready: 'True', NetworkUnavailable: 'False', DiskPressure: 'Unknown' });
  expect(silentConditions(node, now)).toEqual([
    {
      type: 'Ready',
      status: 'Unknown',
      reason: 'NodeStatusUnknown',
      message: 'Kubelet stopped posting node status.',
      lastTransitionTime: now,
    },
    { type: 'NetworkUnavailable', status: 'False' },
    { type: 'DiskPressure', status: 'Unknown' },
    ...['MemoryPressure', 'PIDPressure'].map((type) => ({
      type,
      status: 'Unknown',
      reason: 'NodeStatusNeverUpdated',
      message: 'Kubelet never posted node status.',
      lastHeartbeatTime: before,
      lastTransitionTime: now,
    })),
  ]);
});

it('a Pod that is ready becomes not ready, another is not changed', () => {
  const pod = (status: string) => ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'p' },
    status: {
      conditions: [
        { type: 'Ready', status },
        { type: 'Initialized', status: 'True' },
      ],
    },
  });
  expect(unreadyPod(pod('True'), now)?.status).toEqual({
    conditions: [
      { type: 'Ready', status: 'False', lastTransitionTime: now },
      { type: 'Initialized', status: 'True' },
    ],
  });
  expect(unreadyPod(pod('False'), now)).toBeUndefined();
});
