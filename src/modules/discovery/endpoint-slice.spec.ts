import type { KubeObject } from '../../machinery/kube-object.js';
import { prepared, refusals, updateRefusals } from '../../../test/harness/strategies.js';
import { endpointSliceStrategy } from './endpoint-slice.strategy.js';
import { endpointSliceTable } from './endpoint-slice.table.js';

const slice = (fields: object): KubeObject => ({
  kind: 'EndpointSlice',
  apiVersion: 'discovery.k8s.io/v1',
  metadata: { name: 's' },
  addressType: 'IPv4',
  ...fields,
});
const endpoint = (fields: object) => ({ endpoints: [{ addresses: ['192.0.2.1'], ...fields }] });
const zones = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `z${i}` }));

it.each<[string, object, string[]]>([
  ['nothing', {}, []],
  ['an endpoint', endpoint({ hostname: 'h', nodeName: 'n.example.com', hints: { forZones: zones(8) } }), []],
  ['a domain', { addressType: 'FQDN', endpoints: [{ addresses: ['a.example.com.'] }] }, []],
  ['no type', { addressType: '' }, ['addressType: Required value']],
  [
    'another type',
    { addressType: 'X', ...endpoint({}) },
    ['addressType: Unsupported value: "X": supported values: "FQDN", "IPv4", "IPv6"'],
  ],
  ['no address', { endpoints: [{}] }, ['endpoints[0].addresses: Required value: must contain at least 1 address']],
  [
    'many addresses',
    endpoint({ addresses: Array.from({ length: 101 }, (_, i) => `192.0.2.${i + 1}`) }),
    ['endpoints[0].addresses: Too many: 101: must have at most 100 items'],
  ],
  [
    'no address at all',
    endpoint({ addresses: ['x'] }),
    ['endpoints[0].addresses[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ],
  [
    'another family',
    endpoint({ addresses: ['2001:db8::1'] }),
    ['endpoints[0].addresses: Invalid value: "2001:db8::1": must be an IPv4 address'],
  ],
  [
    'a loopback',
    endpoint({ addresses: ['127.0.0.1'] }),
    ['endpoints[0].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ],
  [
    'a domain of one label',
    { addressType: 'FQDN', endpoints: [{ addresses: ['a'] }] },
    ['endpoints[0].addresses[0]: Invalid value: "a": should be a domain with at least two segments separated by dots'],
  ],
  [
    'many hints',
    endpoint({ hints: { forZones: zones(9) } }),
    ['endpoints[0].hints.forZones: Too many: 9: must have at most 8 items'],
  ],
  [
    'a hint twice',
    endpoint({ hints: { forNodes: [{ name: 'n' }, { name: 'n' }] } }),
    ['endpoints[0].hints.forNodes[1].name: Duplicate value: "n"'],
  ],
  ['a port twice', { ports: [{ name: 'a' }, { name: 'a' }] }, ['ports[1].name: Duplicate value: "a"']],
  ['two without names', { ports: [{ port: 1 }, { port: 2 }] }, ['ports[1].name: Duplicate value: ""']],
  [
    'another protocol',
    { ports: [{ protocol: 'X' }] },
    ['ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"'],
  ],
  ['ports outside the range', { ports: [{ port: 0 }, { name: 'x', port: -1 }, { name: 'y', port: 70_000 }] }, []],
  ['a zone without a name', endpoint({ hints: { forZones: [{}] } }), []],
  [
    'a zone that is no label value',
    endpoint({ hints: { forZones: [{ name: 'a/b' }] } }),
    [
      expect.stringContaining(
        'endpoints[0].hints.forZones[0].name: Invalid value: "a/b": a valid label must be',
      ) as string,
    ],
  ],
])('an EndpointSlice with %s is validated', (_name, fields, want) =>
  expect(refusals(endpointSliceStrategy, slice(fields))).toEqual(want),
);

it('items of a list that is too long are not validated', () =>
  expect(refusals(endpointSliceStrategy, slice({ endpoints: Array.from({ length: 1001 }, () => ({})) }))).toEqual([
    'endpoints: Too many: 1001: must have at most 1000 items',
  ]));

it('addressType is immutable', () =>
  expect(updateRefusals(endpointSliceStrategy, slice({ addressType: 'IPv6' }), slice({}))).toEqual([
    'addressType: Invalid value: "IPv6": field is immutable',
  ]));

it('ports get a name and a protocol, and deprecatedTopology is dropped', () => {
  const made = prepared(
    endpointSliceStrategy,
    slice({ ...endpoint({ deprecatedTopology: { a: 'b' } }), ports: [{ port: 80 }, { name: 'x', protocol: 'UDP' }] }),
  );
  expect(made).toMatchObject({
    endpoints: [{ addresses: ['192.0.2.1'] }],
    ports: [
      { name: '', protocol: 'TCP', port: 80 },
      { name: 'x', protocol: 'UDP' },
    ],
  });
  expect(made['endpoints']).toEqual([{ addresses: ['192.0.2.1'] }]);
});

it.each<[object, string[]]>([
  [endpoint({}), []],
  [{ addressType: 'FQDN' }, ['spec.addressType: FQDN endpoints are deprecated']],
  [
    { addressType: 'IPv6', ...endpoint({ addresses: ['2001:DB8::1'] }) },
    ['endpoints[0].addresses[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")'],
  ],
])('%j is warned of on create only', (fields, want) => {
  expect(endpointSliceStrategy.warnings!(slice(fields), undefined)).toEqual(want);
  expect(endpointSliceStrategy.warnings!(slice(fields), slice(fields))).toEqual([]);
});

it.each<[object, string, string]>([
  [{}, '<unset>', '<unset>'],
  [
    { ports: [{ port: 80 }, { name: 'any' }, {}], endpoints: [{ addresses: ['a', 'b'] }, { addresses: ['c', 'd'] }] },
    '80,any,*',
    'a,b,c + 1 more...',
  ],
])('the table row of %j', (fields, ports, endpoints) =>
  expect(endpointSliceTable.cells(slice(fields), { nowMs: 0 })).toEqual(['s', 'IPv4', ports, endpoints, '<unknown>']),
);
