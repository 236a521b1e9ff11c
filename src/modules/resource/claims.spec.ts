import type { KubeObject } from '../../machinery/kube-object.js';
import { prepared, refusals, testContext, texts, updateRefusals } from '../../../test/harness/strategies.js';
import { resourceClaimStatusSubresource, resourceClaimStrategy } from './resource-claim.strategy.js';
import { resourceClaimTable } from './resource-claim.table.js';
import { resourceClaimTemplateStrategy } from './resource-claim-template.strategy.js';

const claim = (devices: object, status: object = {}): KubeObject => ({
  kind: 'ResourceClaim',
  apiVersion: 'resource.k8s.io/v1',
  metadata: { name: 'c' },
  spec: { devices },
  status,
});
const exactly = (fields: object = {}) => ({ name: 'r', exactly: { deviceClassName: 'c', ...fields } });
const requesting = (fields: object) => ({ requests: [exactly(fields)] });
const alternatives = { name: 'q', firstAvailable: [{ name: 'a', deviceClassName: 'c' }] };
const opaque = { driver: 'dra.example.com', parameters: { a: 1 } };
const at = 'spec.devices.requests[0]';
const noRequest =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

it.each<[string, object, string[]]>([
  ['no requests', {}, []],
  ['one device', { requests: [exactly()] }, []],
  ['all devices', requesting({ allocationMode: 'All', selectors: [{ cel: { expression: 'true' } }] }), []],
  [
    'alternatives, constraints and configuration',
    {
      requests: [exactly(), alternatives],
      constraints: [{ requests: ['r', 'q/a'], matchAttribute: 'dra.example.com/numa' }],
      config: [{ requests: ['q'], opaque }],
    },
    [],
  ],
  ['no device class', { requests: [{ name: 'r', exactly: {} }] }, [`${at}.exactly.deviceClassName: Required value`]],
  [
    'neither exactly nor firstAvailable',
    { requests: [{ name: 'r' }] },
    [`${at}: Required value: exactly one of \`exactly\` or \`firstAvailable\` is required`],
  ],
  [
    'exactly and firstAvailable',
    { requests: [{ ...alternatives, ...exactly() }] },
    [
      `${at}: Invalid value: null: exactly one of \`exactly\` or \`firstAvailable\` is required, but multiple fields are set`,
    ],
  ],
  [
    'two requests of one name',
    { requests: [exactly(), exactly()] },
    ['spec.devices.requests[1]: Duplicate value: "r"'],
  ],
  [
    'too many requests',
    { requests: Array.from({ length: 33 }, (_, i) => ({ ...exactly(), name: `r${i}` })) },
    ['spec.devices.requests: Too many: 33: must have at most 32 items'],
  ],
  [
    'too many alternatives',
    {
      requests: [
        { name: 'r', firstAvailable: Array.from({ length: 9 }, (_, i) => ({ name: `a${i}`, deviceClassName: 'c' })) },
      ],
    },
    [`${at}.firstAvailable: Too many: 9: must have at most 8 items`],
  ],
  [
    'an unknown allocation mode',
    requesting({ allocationMode: 'X' }),
    [`${at}.exactly.allocationMode: Unsupported value: "X": supported values: "All", "ExactCount"`],
  ],
  [
    'a negative count',
    requesting({ count: -1 }),
    [`${at}.exactly.count: Invalid value: -1: must be greater than zero`],
  ],
  [
    'a count and allocationMode All',
    requesting({ allocationMode: 'All', count: 2 }),
    [`${at}.exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'`],
  ],
  ['an empty selector', requesting({ selectors: [{}] }), [`${at}.exactly.selectors[0].cel: Required value`]],
  [
    'a toleration with operator Exists and a value',
    requesting({ tolerations: [{ key: 'k', operator: 'Exists', value: 'v' }] }),
    [`${at}.exactly.tolerations[0].value: Invalid value: "v": must be empty for operator \`Exists\``],
  ],
  [
    'a toleration of the effect None',
    requesting({ tolerations: [{ key: 'k', operator: 'Exists', effect: 'None' }] }),
    [`${at}.exactly.tolerations[0].effect: Unsupported value: "None": supported values: "NoExecute", "NoSchedule"`],
  ],
  [
    'a constraint on an unknown request',
    { requests: [exactly()], constraints: [{ requests: ['z'], matchAttribute: 'a/b' }] },
    [`spec.devices.constraints[0].requests[0]: Invalid value: "z": ${noRequest}`],
  ],
  [
    'a constraint on an attribute without a domain',
    { requests: [exactly()], constraints: [{ matchAttribute: 'x' }] },
    [
      'spec.devices.constraints[0].matchAttribute: Invalid value: "x": a fully qualified name must be a domain and a name separated by a slash',
    ],
  ],
  [
    'a constraint without an attribute',
    { requests: [exactly()], constraints: [{}] },
    ['spec.devices.constraints[0].matchAttribute: Required value'],
  ],
  ['a configuration without opaque parameters', { config: [{}] }, ['spec.devices.config[0].opaque: Required value']],
  [
    'opaque parameters without a driver',
    { config: [{ opaque: { parameters: {} } }] },
    ['spec.devices.config[0].opaque.driver: Required value'],
  ],
  [
    'too large opaque parameters',
    { config: [{ opaque: { ...opaque, parameters: { a: 'x'.repeat(10240) } } }] },
    ['spec.devices.config[0].opaque.parameters: Too long: may not be more than 10240 bytes'],
  ],
])('a claim and a template with %s are validated', (_name, devices, want) => {
  expect(refusals(resourceClaimStrategy, claim(devices))).toEqual(want);
  const template = { ...claim({}), kind: 'ResourceClaimTemplate', spec: { spec: { devices } } };
  expect(refusals(resourceClaimTemplateStrategy, template)).toEqual(
    want.map((error) => error.replace('spec.', 'spec.spec.')),
  );
});

it('allocationMode defaults to ExactCount and count to 1', () => {
  const tolerations = [{ key: 'k' }];
  const created = prepared(
    resourceClaimStrategy,
    claim({ requests: [exactly({ count: 0, tolerations }), alternatives, exactly({ allocationMode: 'All' })] }),
  );
  const one = { allocationMode: 'ExactCount', count: 1 };
  expect(created['spec']).toEqual({
    devices: {
      requests: [
        exactly({ ...one, tolerations: [{ key: 'k', operator: 'Equal' }] }),
        { name: 'q', firstAvailable: [{ name: 'a', deviceClassName: 'c', ...one }] },
        exactly({ allocationMode: 'All' }),
      ],
    },
  });
});

it('spec is immutable and the error shows all of its Go fields', () =>
  expect(updateRefusals(resourceClaimStrategy, claim({ requests: [exactly()] }), claim({}))).toEqual([
    'spec: Invalid value: {"Devices":{"Requests":[{"Name":"r","Exactly":{"DeviceClassName":"c","Selectors":null,"AllocationMode":"ExactCount","Count":1,"AdminAccess":null,"Tolerations":null,"Capacity":null},"FirstAvailable":null}],"Constraints":null,"Config":null}}: field is immutable',
  ]));

it('metadata of a template other than labels and annotations is refused', () =>
  expect(
    refusals(resourceClaimTemplateStrategy, {
      ...claim({}),
      spec: { metadata: { annotations: { a: 'b' }, uid: 'u', generation: 2n ** 53n + 1n }, spec: { devices: {} } },
    }),
  ).toEqual(['spec.metadata.uID: Forbidden: cannot be set', 'spec.metadata.generation: Forbidden: cannot be set']));

it('labels in spec.metadata of a template are validated', () =>
  expect(
    refusals(resourceClaimTemplateStrategy, {
      ...claim({}),
      spec: { metadata: { labels: { a: 'b c' } }, spec: { devices: {} } },
    })[0],
  ).toContain('spec.metadata.labels: Invalid value: "b c"'));

describe('status', () => {
  const result = { request: 'r', driver: 'dra.example.com', pool: 'p', device: 'd' };
  const allocation = { devices: { results: [result] } };
  const consumer = { resource: 'pods', name: 'p', uid: 'u' };
  const device = { driver: 'dra.example.com', pool: 'p', device: 'd', conditions: [] };
  const of = (status: object) => claim({ requests: [exactly()] }, status);

  it.each<[string, object, object, string[]]>([
    ['an allocation', { allocation }, {}, []],
    ['a consumer and a device status', { allocation, reservedFor: [consumer], devices: [device] }, { allocation }, []],
    ['a deallocation', {}, { allocation }, []],
    [
      'an unknown request',
      { allocation: { devices: { results: [{ ...result, request: 'z' }] } } },
      {},
      [`status.allocation.devices.results[0].request: Invalid value: "z": ${noRequest}`],
    ],
    [
      'no pool',
      { allocation: { devices: { results: [{ ...result, pool: '' }] } } },
      {},
      ['status.allocation.devices.results[0].pool: Required value'],
    ],
    [
      'a configuration without a source',
      { allocation: { devices: { config: [{ opaque }] } } },
      {},
      ['status.allocation.devices.config[0].source: Required value'],
    ],
    [
      'a changed allocation',
      { allocation: { devices: {} } },
      { allocation },
      ['status.allocation: Invalid value: {"devices":{}}: field is immutable'],
    ],
    [
      'a consumer without an allocation',
      { reservedFor: [consumer] },
      {},
      ['status.reservedFor: Forbidden: may not be specified when `allocated` is not set'],
    ],
    [
      'one consumer twice',
      { allocation, reservedFor: [consumer, consumer] },
      { allocation },
      ['status.reservedFor[1]: Duplicate value: "u"'],
    ],
    [
      'the status of a device that is not allocated',
      { allocation, devices: [{ ...device, device: 'e' }] },
      { allocation },
      [
        'status.devices[0]: Invalid value: {"Driver":"dra.example.com","Pool":"p","Device":"e"}: must be an allocated device in the claim',
      ],
    ],
    [
      'an IP with a zone, and one that is not in canonical form',
      { allocation, devices: [{ ...device, networkData: { ips: ['fe80::1%eth0/64', 'FE80::1/64'] } }] },
      { allocation },
      [
        'status.devices[0].networkData.ips[0]: Invalid value: "fe80::1%eth0/64": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)',
        'status.devices[0].networkData.ips[1]: Invalid value: "FE80::1/64": must be in canonical form ("fe80::1/64")',
      ],
    ],
    [
      'an IP without a prefix length',
      { allocation, devices: [{ ...device, networkData: { ips: ['10.0.0.1'] } }] },
      { allocation },
      [
        'status.devices[0].networkData.ips[0]: Invalid value: "10.0.0.1": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)',
      ],
    ],
  ])('a status with %s is validated', (_name, status, before, want) =>
    expect(texts(resourceClaimStatusSubresource.validate!(of(status), of(before), testContext))).toEqual(want),
  );

  it('new consumers are refused while deletionTimestamp is set', () => {
    const changed = of({ allocation, reservedFor: [consumer] });
    changed.metadata.deletionTimestamp = testContext.now;
    expect(texts(resourceClaimStatusSubresource.validate!(changed, of({ allocation }), testContext))).toEqual([
      'status.reservedFor: Forbidden: new entries may not be added while `deletionTimestamp` is set',
    ]);
  });

  it('deallocation removes the device statuses', () => {
    const changed = of({ devices: [device] });
    resourceClaimStatusSubresource.prepare!(changed, of({ allocation, devices: [device] }), testContext);
    expect(changed['status']).toEqual({});
  });

  it.each<[object, boolean, string]>([
    [{}, false, 'pending'],
    [{}, true, 'deleted'],
    [{ allocation }, false, 'allocated'],
    [{ allocation, reservedFor: [consumer] }, false, 'allocated,reserved'],
    [{ allocation }, true, 'deleted,allocated'],
  ])('the State cell of status %j, deleted: %j', (status, isDeleted, state) => {
    const object = of(status);
    if (isDeleted) object.metadata.deletionTimestamp = testContext.now;
    expect(resourceClaimTable.cells(object, { nowMs: 0 })).toEqual(['c', state, '<unknown>']);
  });
});
