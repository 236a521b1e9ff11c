import type { KubeObject } from '../../machinery/kube-object.js';
import { prepared, refusals, testContext, updateRefusals } from '../../../test/harness/strategies.js';
import { resourceSliceStrategy } from './resource-slice.strategy.js';
import { resourceSliceTable } from './resource-slice.table.js';

const slice = (spec: object): KubeObject => ({
  kind: 'ResourceSlice',
  apiVersion: 'resource.k8s.io/v1',
  metadata: { name: 's' },
  spec: { driver: 'dra.example.com', nodeName: 'n', pool: { name: 'p', resourceSliceCount: 1 }, ...spec },
});
const device = (fields: object = {}) => ({ devices: [{ name: 'd', ...fields }] });
const attribute = (value: object) => device({ attributes: { x: value } });
const capacity = (requestPolicy: object, allowMultipleAllocations = true) =>
  device({ allowMultipleAllocations, capacity: { m: { value: '8Gi', requestPolicy } } });
const at = 'spec.devices[0]';
const policyAt = `${at}.capacity[m].requestPolicy`;
const nodeFields = '`nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection`';
const terms = (count: number) => ({
  nodeSelectorTerms: Array.from({ length: count }, () => ({ matchExpressions: [{ key: 'k', operator: 'Exists' }] })),
});

it.each<[string, object, string[]]>([
  ['no device', {}, []],
  ['a pool with slashes', { pool: { name: 'a/b.c', resourceSliceCount: 2, generation: 1 } }, []],
  [
    'a device',
    device({
      attributes: {
        model: { string: 'x' },
        'dra.example.com/n': { int: 3 },
        ok: { bool: true },
        v: { version: '1.2.3' },
      },
      capacity: { memory: { value: '8Gi' } },
      taints: [{ key: 'k', effect: 'NoExecute' }],
    }),
    [],
  ],
  [
    'node selection per device',
    { nodeName: undefined, perDeviceNodeSelection: true, ...device({ allNodes: true }) },
    [],
  ],
  ['no driver', { driver: '' }, ['spec.driver: Required value']],
  ['no node selection', { nodeName: undefined }, [`spec: Required value: exactly one of ${nodeFields} is required`]],
  [
    'two node selections',
    { allNodes: true },
    [
      `spec: Invalid value: "{\`nodeName\`, \`allNodes\`}": exactly one of ${nodeFields} is required, but multiple fields are set`,
    ],
  ],
  [
    'allNodes false',
    { nodeName: undefined, allNodes: false },
    ['spec.allNodes: Invalid value: false: must be either unset or set to true'],
  ],
  [
    'an empty node name',
    { nodeName: '' },
    ['spec.nodeName: Invalid value: "": must be either unset or set to a non-empty string'],
  ],
  [
    'no resourceSliceCount',
    { pool: { name: 'p' } },
    ['spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero'],
  ],
  ['no pool name', { pool: { resourceSliceCount: 1 } }, ['spec.pool.name: Required value']],
  ['two devices of one name', { devices: [{ name: 'd' }, { name: 'd' }] }, ['spec.devices[1]: Duplicate value: "d"']],
  [
    'too many devices',
    { devices: Array.from({ length: 129 }, (_, i) => ({ name: `d${i}` })) },
    ['spec.devices: Too many: 129: must have at most 128 items'],
  ],
  [
    'too many devices with taints',
    {
      devices: Array.from({ length: 65 }, (_, i) => ({ name: `d${i}`, taints: [{ key: 'k', effect: 'None' }] })),
    },
    ['spec.devices: Too many: 65: must have at most 64 items'],
  ],
  [
    'too many attributes',
    device({ attributes: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`a${i}`, { int: i }])) }),
    [`${at}: Invalid value: 33: the total number of attributes and capacities must not exceed 32`],
  ],
  [
    'an attribute without a value',
    attribute({}),
    [`${at}.attributes[x]: Invalid value: "": exactly one value must be specified`],
  ],
  [
    'an attribute of two values',
    attribute({ int: 1, bool: true }),
    [
      `${at}.attributes[x]: Invalid value: {"IntValue":1,"BoolValue":true,"StringValue":null,"VersionValue":null,"IntValues":null,"BoolValues":null,"StringValues":null,"VersionValues":null}: exactly one value must be specified`,
    ],
  ],
  [
    'an attribute with an invalid version',
    attribute({ version: '1' }),
    [`${at}.attributes[x].version: Invalid value: "1": must be a string compatible with semver.org spec 2.0.0`],
  ],
  [
    'an attribute with too long a string',
    attribute({ strings: ['x', 'x'.repeat(65)] }),
    [`${at}.attributes[x].strings[1]: Too long: may not be more than 64 bytes`],
  ],
  [
    'an attribute with a domain and no name',
    device({ attributes: { 'example.com/': { int: 1 } } }),
    [`${at}.attributes[example.com/]: Required value: the name must not be empty`],
  ],
  ['a taint without an effect', device({ taints: [{ key: 'k' }] }), [`${at}.taints[0].effect: Required value`]],
  [
    'node selection by the slice and a device',
    device({ allNodes: true }),
    [`${at}.allNodes: Invalid value: true: can only be set if \`spec.perDeviceNodeSelection\` is true`],
  ],
  [
    'a counter set without counters',
    { sharedCounters: [{ name: 'c' }] },
    ['spec.sharedCounters[0].counters: Required value'],
  ],
  [
    'shared counters and devices',
    { sharedCounters: [{ name: 'c', counters: { m: { value: '1' } } }], ...device() },
    ['spec: Invalid value: "{`sharedCounters`, `devices`}": only one of `sharedCounters` or `devices` is allowed'],
  ],
  ['a range of capacity', capacity({ default: '2Gi', validRange: { min: '1Gi', max: '4Gi' } }), []],
  [
    'a request policy for a device that is not shared',
    capacity({ default: '2Gi' }, false),
    [`${policyAt}: Forbidden: allowMultipleAllocations must be true`],
  ],
  ['a range with a step', capacity({ default: '2Gi', validRange: { min: '1Gi', max: '4Gi', step: '1Gi' } }), []],
  [
    'amounts that are not a number of steps above the minimum',
    capacity({ default: '2Gi', validRange: { min: '1Gi', max: '4Gi', step: '2Gi' } }),
    [
      `${policyAt}.validRange.step: Invalid value: "2Gi": must be \`min\` (1Gi) plus a multiple of \`step\` (2Gi)`,
      `${policyAt}.validRange.step: Invalid value: "4Gi": must be \`min\` (1Gi) plus a multiple of \`step\` (2Gi)`,
    ],
  ],
  [
    'amounts that are steps above a minimum between steps',
    capacity({ default: '1Gi', validRange: { min: '1Gi', max: '5Gi', step: '2Gi' } }),
    [],
  ],
  [
    'amounts that a double cannot hold',
    device({
      allowMultipleAllocations: true,
      capacity: {
        m: {
          value: '9007199254740999',
          requestPolicy: {
            default: '9007199254740994',
            validRange: { min: '1', max: '9007199254740993', step: '2' },
          },
        },
      },
    }),
    [
      `${policyAt}.validRange.max: Invalid value: "9007199254740994": \`default\` must be less than or equal to \`max\``,
      `${policyAt}.validRange.step: Invalid value: "9007199254740994": must be \`min\` (1) plus a multiple of \`step\` (2)`,
    ],
  ],
  [
    'a step of zero',
    capacity({ default: '1Gi', validRange: { min: '1Gi', step: '0' } }),
    [`${policyAt}.validRange.step: Invalid value: "1Gi": must be \`min\` (1Gi) plus a multiple of \`step\` (0)`],
  ],
  [
    'a step that exceeds the capacity',
    capacity({ default: '1Gi', validRange: { min: '1Gi', step: '8Gi' } }),
    [
      `${policyAt}.validRange.step: Invalid value: "8Gi": one step above \`min\` must be less than or equal to the capacity value`,
    ],
  ],
  [
    'a range that exceeds the capacity',
    capacity({ default: '1Gi', validRange: { min: '10Gi', max: '9Gi' } }),
    [
      `${policyAt}.validRange.min: Invalid value: "10Gi": must be less than or equal to the capacity value`,
      `${policyAt}.validRange.min: Invalid value: "1Gi": \`default\` must be greater than or equal to \`min\``,
      `${policyAt}.validRange.max: Invalid value: "10Gi": \`min\` must be less than or equal to \`max\``,
      `${policyAt}.validRange.max: Invalid value: "9Gi": must be less than or equal to the capacity value`,
    ],
  ],
  [
    'valid amounts and a range with errors',
    capacity({ validValues: ['16Gi', '1Gi'], validRange: { max: '16Gi' } }),
    [
      `${policyAt}: Forbidden: exactly one policy can be specified, cannot specify \`validValues\` and \`validRange\` at the same time`,
    ],
  ],
  ['a default without a policy', capacity({ default: '16Gi' }), []],
  ['valid amounts of capacity', capacity({ default: '2Gi', validValues: ['1Gi', '2Gi'] }), []],
  ['a range without a default', capacity({ validRange: { min: '1Gi' } }), [`${policyAt}.default: Required value`]],
  [
    'a range without a minimum',
    capacity({ default: '1', validRange: {} }),
    [`${policyAt}.validRange.min: Required value`],
  ],
  [
    'a default out of range',
    capacity({ default: '16Gi', validRange: { min: '1Gi', max: '4Gi' } }),
    [`${policyAt}.validRange.max: Invalid value: "16Gi": \`default\` must be less than or equal to \`max\``],
  ],
  [
    'a default that is no valid amount',
    capacity({ default: '2Gi', validValues: ['1Gi', '1024Mi'] }),
    [
      `${policyAt}.validValues[1]: Duplicate value: "1073741824"`,
      `${policyAt}.validValues: Invalid value: "2Gi": \`default\` must be one of \`validValues\``,
    ],
  ],
  [
    'unsorted valid amounts',
    capacity({ default: '1Gi', validValues: ['2Gi', '1Gi'] }),
    [`${policyAt}.validValues[1]: Invalid value: "1Gi": values must be sorted in ascending order`],
  ],
])('a slice with %s is validated', (_name, spec, want) =>
  expect(refusals(resourceSliceStrategy, slice(spec))).toEqual(want),
);

it.each([
  [1, 0],
  [2, 1],
  [0, 1],
])('a node selector with %d terms has %d errors', (count, errors) =>
  expect(refusals(resourceSliceStrategy, slice({ nodeName: undefined, nodeSelector: terms(count) }))).toHaveLength(
    errors,
  ),
);

it.each<[object, string[]]>([
  [device(), []],
  [{ pool: { name: 'p', resourceSliceCount: 2, generation: 1 } }, []],
  [{ nodeName: undefined, allNodes: true }, ['spec.nodeName: Invalid value: null: field is immutable']],
  [{ driver: 'x.example.com' }, ['spec.driver: Invalid value: "x.example.com": field is immutable']],
  [{ nodeName: 'y' }, ['spec.nodeName: Invalid value: "y": field is immutable']],
  [{ pool: { name: 'q', resourceSliceCount: 1 } }, ['spec.pool.name: Invalid value: "q": field is immutable']],
])('an update to %j is validated', (spec, want) =>
  expect(updateRefusals(resourceSliceStrategy, slice(spec), slice({}))).toEqual(want),
);

it('a create sets timeAdded of taints without one', () => {
  const timeAdded = '2020-01-01T00:00:00Z';
  const taints = [{ key: 'a' }, { key: 'b', timeAdded }];
  expect(prepared(resourceSliceStrategy, slice(device({ taints })))['spec']).toMatchObject({
    devices: [
      {
        taints: [
          { key: 'a', timeAdded: testContext.now },
          { key: 'b', timeAdded },
        ],
      },
    ],
  });
});

it.each([
  [{}, 'n'],
  [{ nodeName: undefined, allNodes: true }, ''],
])('the table row of spec %j', (spec, node) =>
  expect(resourceSliceTable.cells(slice(spec), { nowMs: 0 })).toEqual(['s', node, 'dra.example.com', 'p', '<unknown>']),
);
