import type { NodeStatus } from '../../catalog/types/core.v1.js';
import { nodeConditions } from './node-conditions.js';
import { hasStatusChanged, statusPatch } from './status-patch.js';

const nothing = new Set<never>();
const at = (now: string) => ({ pressures: nothing, problems: [], now });

it('a new Node gets the four conditions, Ready last', () => {
  const conditions = nodeConditions([], { pressures: new Set(['disk'] as const), problems: ['a', 'b'], now: 't' });
  expect(conditions.map(({ type, status, reason }) => [type, status, reason])).toEqual([
    ['MemoryPressure', 'False', 'KubeletHasSufficientMemory'],
    ['DiskPressure', 'True', 'KubeletHasDiskPressure'],
    ['PIDPressure', 'False', 'KubeletHasSufficientPID'],
    ['Ready', 'False', 'KubeletNotReady'],
  ]);
  expect(conditions.at(-1)).toMatchObject({ message: '[a, b]', lastHeartbeatTime: 't', lastTransitionTime: 't' });
});

it('the time of a transition changes only with the status of the condition', () => {
  const first = nodeConditions([], at('1'));
  expect(nodeConditions(first, at('2')).at(-1)).toMatchObject({ lastHeartbeatTime: '2', lastTransitionTime: '1' });
  const unready = nodeConditions(first, { ...at('2'), problems: ['down'] });
  expect(unready.at(-1)).toMatchObject({ status: 'False', message: 'down', lastTransitionTime: '2' });
});

it('conditions of other writers are kept in their place', () => {
  const network = { type: 'NetworkUnavailable', status: 'False', reason: 'x' };
  const conditions = nodeConditions([network, ...nodeConditions([], at('1'))], at('2'));
  expect(conditions.map(({ type }) => type)).toEqual([
    'NetworkUnavailable',
    'MemoryPressure',
    'DiskPressure',
    'PIDPressure',
    'Ready',
  ]);
  expect(conditions[0]).toBe(network);
});

it('a status that differs in heartbeats alone has not changed', () => {
  const before = { conditions: nodeConditions([], at('1')) };
  const after = { conditions: nodeConditions(before.conditions, at('2')) };
  expect(hasStatusChanged(before, after)).toBe(false);
  expect(statusPatch(before, after)?.status['conditions']).toHaveLength(4);
});

const address = { type: 'InternalIP', address: '10.0.0.1' };

it.each<[string, NodeStatus, NodeStatus, unknown]>([
  ['equal states', { capacity: { cpu: '1' } }, { capacity: { cpu: '1' } }, undefined],
  [
    'fields that the server adds',
    { nodeInfo: { bootID: 'a', kubeProxyVersion: '' } },
    { nodeInfo: { bootID: 'a' } },
    undefined,
  ],
  ['one resource', { capacity: { cpu: '1', a: '2' } }, { capacity: { cpu: '2' } }, { capacity: { cpu: '2' } }],
  [
    'a resource named as a field of Object',
    { capacity: {} },
    { capacity: { constructor: '1' } },
    { capacity: { constructor: '1' } },
  ],
  ['no images', { images: [{ names: ['a'] }] }, { images: [] }, { images: [] }],
  [
    'addresses as a whole',
    { addresses: [{ type: 'InternalIP', address: '10.0.0.2' }] },
    { addresses: [address] },
    { addresses: [address, { $patch: 'replace' }] },
  ],
])('the status patch has %s', (_what, before, after, wanted) => {
  expect(statusPatch(before, after)?.status).toEqual(wanted);
});
