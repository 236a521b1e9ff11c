import { namingProfile } from '../../config/naming-profile.js';
import type { Int64 } from '../../machinery/int64.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { prepared, refusals, testContext, texts, updateRefusals } from '../../../test/harness/strategies.js';
import { nodeStatusSubresource, nodeStrategy as strategyFor } from './node.strategy.js';
import { nodeTable } from './node.table.js';

const nodeStrategy = strategyFor(namingProfile('kubernetes'));
const node = (rest: object = {}, labels: Record<string, string> = {}): KubeObject => ({
  kind: 'Node',
  apiVersion: 'v1',
  metadata: { name: 'n', labels },
  ...rest,
});

it('a Node gets the defaults of status, and podCIDRs from podCIDR', () => {
  const defaulted = prepared(
    nodeStrategy,
    node({ spec: { podCIDR: '10.1.0.0/24' }, status: { capacity: { cpu: '4' }, conditions: [{ type: 'Ready' }] } }),
  );
  expect(defaulted).toMatchObject({
    spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] },
    status: {
      allocatable: { cpu: '4' },
      conditions: [{ type: 'Ready', lastHeartbeatTime: null, lastTransitionTime: null }],
      daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
      nodeInfo: { osImage: '', kubeletVersion: '' },
    },
  });
});

it.each<[string, object, string[]]>([
  [
    'an invalid CIDR',
    { podCIDR: 'x' },
    ['spec.podCIDRs[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'],
  ],
  [
    'two CIDRs of one IP family',
    { podCIDRs: ['10.1.0.0/24', '10.2.0.0/24'] },
    [
      'spec.podCIDRs: Invalid value: ["10.1.0.0/24","10.2.0.0/24"]: may specify no more than one CIDR for each IP family',
    ],
  ],
  ['a CIDR of each IP family', { podCIDRs: ['10.1.0.0/24', '2001:db8::/64'] }, []],
  ['podCIDR that differs from podCIDRs', { podCIDR: '10.1.0.0/24', podCIDRs: ['10.2.0.0/24'] }, []],
  [
    'an unknown taint effect',
    { taints: [{ key: 'a', effect: 'X' }] },
    [
      'metadata.taints[0].effect: Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ],
  ],
  [
    'a duplicate taint',
    {
      taints: [
        { key: 'a', effect: 'NoSchedule' },
        { key: 'a', effect: 'NoSchedule' },
      ],
    },
    [
      'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
    ],
  ],
])('create of a Node with %s is validated', (_case, spec, want) =>
  expect(refusals(nodeStrategy, node({ spec }))).toEqual(want),
);

it.each<[capacity: Int64 | undefined, string[]]>([
  [undefined, []],
  [1, []],
  [2n ** 53n + 1n, []],
  [0, ['metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero']],
  [-(2n ** 63n), ['metadata.nodeSwapStatus.capacity: Invalid value: -9223372036854775808: must be greater than zero']],
])('a new Node with a swap capacity of %s has errors %p', (capacity, want) => {
  const info = { status: { nodeInfo: { swap: { ...(capacity !== undefined && { capacity }) } } } };
  expect([refusals(nodeStrategy, node(info)), updateRefusals(nodeStrategy, node(info), node())]).toEqual([want, []]);
});

it.each<[string, object, object, string[]]>([
  ['providerID can be set', {}, { providerID: 'p://1' }, []],
  [
    'providerID cannot change',
    { providerID: 'p://1' },
    { providerID: 'p://2' },
    ['spec.providerID: Forbidden: node updates may not change providerID except from "" to valid'],
  ],
  [
    'podCIDR cannot change',
    { podCIDR: '10.1.0.0/24' },
    { podCIDR: '10.2.0.0/24' },
    ['spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'],
  ],
  ['externalID cannot be set', {}, { externalID: 'x' }, ['spec.externalID: Forbidden: may not be updated']],
])('in an update, %s', (_case, old, spec, want) =>
  expect(updateRefusals(nodeStrategy, node({ spec }), node({ spec: old }))).toEqual(want),
);

it('status with a duplicate address or a negative amount is rejected', () => {
  const address = { type: 'InternalIP', address: 'a' };
  const update = node({ status: { addresses: [address, address], allocatable: { cpu: '-1' } } });
  expect(texts(nodeStatusSubresource.validate!(update, node(), testContext))).toEqual([
    'status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"a"}',
    'status.allocatable.cpu: Invalid value: "-1": must be greater than or equal to 0',
  ]);
});

const role = (name: string) => `node-role.kubernetes.io/${name}`;
it.each<[string, KubeObject, string[]]>([
  ['without status', node(), ['Unknown', '<none>', '', '<none>', '<none>', '<unknown>', '<unknown>', '<unknown>']],
  [
    'ready',
    node(
      {
        status: {
          conditions: [{ type: 'Ready', status: 'True' }],
          addresses: [
            { type: 'InternalIP', address: '192.0.2.4' },
            { type: 'ExternalIP', address: '203.0.113.4' },
          ],
          nodeInfo: {
            kubeletVersion: 'v1',
            osImage: 'Linux',
            kernelVersion: '6',
            architecture: 'amd64',
            containerRuntimeVersion: 'c://2',
          },
        },
      },
      { [role('worker')]: '', [role('control-plane')]: '' },
    ),
    ['Ready', 'control-plane,worker', 'v1', '192.0.2.4', '203.0.113.4', 'Linux', '6 (amd64)', 'c://2'],
  ],
  [
    'not ready',
    node(
      { spec: { unschedulable: true }, status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } },
      { 'kubernetes.io/role': 'old' },
    ),
    ['NotReady,SchedulingDisabled', 'old', '', '<none>', '<none>', '<unknown>', '<unknown>', '<unknown>'],
  ],
])('table row of a Node: %s', (_case, object, want) => {
  const [name, status, roles, , ...rest] = nodeTable(namingProfile('kubernetes')).cells(object, { nowMs: 0 });
  expect(name).toBe('n');
  expect([status, roles, ...rest]).toEqual(want);
});

const annotation = 'scheduler.alpha.kubernetes.io/preferAvoidPods';
const signature = (podController: object) => JSON.stringify({ preferAvoidPods: [{ podSignature: { podController } }] });
it.each<[string, string[]]>([
  ['', []],
  [signature({ controller: true, name: 'r' }), []],
  ['{', [`metadata.annotations.AvoidPods: Invalid value: "${annotation}": unexpected end of JSON input`]],
  ['{"preferAvoidPods":[{}]}', [`metadata.annotations.${annotation}.PodSignature: Required value`]],
  [
    signature({ name: 'r' }),
    [
      `metadata.annotations.${annotation}.PodSignature.PodController.Controller: Invalid value: false: must point to a controller`,
    ],
  ],
])('the preferAvoidPods annotation %j is validated', (text, want) => {
  const annotated = node();
  annotated.metadata.annotations = { [annotation]: text };
  expect(refusals(nodeStrategy, annotated)).toEqual(want);
});
