import fc from 'fast-check';
import type { KubeObject } from '../../machinery/kube-object.js';
import {
  claimFromV1Beta1,
  claimToV1Beta1,
  sliceFromV1Beta1,
  sliceToV1Beta1,
  templateFromV1Beta1,
  templateToV1Beta1,
} from './v1beta1.conversion.js';

const object = (kind: string, spec: object): KubeObject => ({
  kind,
  apiVersion: 'resource.k8s.io/v1',
  metadata: { name: 'o' },
  spec,
});
const ofRequests = (...requests: object[]) => ({ devices: { requests, config: [] } });

it.each<[string, object, object]>([
  [
    'a request for one device class',
    { name: 'r', deviceClassName: 'c', count: 2 },
    { name: 'r', exactly: { deviceClassName: 'c', count: 2 } },
  ],
  [
    'a request with alternatives',
    { name: 'r', deviceClassName: '', firstAvailable: [{ name: 'a' }] },
    { name: 'r', firstAvailable: [{ name: 'a' }] },
  ],
  [
    'a request with both, which validation refuses',
    { name: 'r', deviceClassName: 'c', firstAvailable: [{ name: 'a' }] },
    { name: 'r', exactly: { deviceClassName: 'c' }, firstAvailable: [{ name: 'a' }] },
  ],
])('%s is converted from and to v1beta1', (_name, older, newer) => {
  expect(claimFromV1Beta1(object('C', ofRequests(older)))).toEqual(object('C', ofRequests(newer)));
  expect(claimToV1Beta1(object('C', ofRequests(newer)))).toEqual(object('C', ofRequests(older)));
  const template = (request: object) => object('T', { metadata: {}, spec: ofRequests(request) });
  expect(templateFromV1Beta1(template(older))).toEqual(template(newer));
  expect(templateToV1Beta1(template(newer))).toEqual(template(older));
});

it('a request without fields becomes one with an empty exactly', () =>
  expect(claimFromV1Beta1(object('C', ofRequests({ name: 'r', deviceClassName: '' })))['spec']).toEqual(
    ofRequests({ name: 'r', exactly: { deviceClassName: '' } }),
  ));

it.each<[object, object]>([
  [
    { name: 'd', basic: { attributes: { a: { int: 1 } } } },
    { name: 'd', attributes: { a: { int: 1 } } },
  ],
  [{ name: 'd', basic: {} }, { name: 'd' }],
])('device %j is converted from and to v1beta1', (older, newer) => {
  expect(sliceFromV1Beta1(object('S', { devices: [older] }))).toEqual(object('S', { devices: [newer] }));
  expect(sliceToV1Beta1(object('S', { devices: [newer] }))).toEqual(object('S', { devices: [older] }));
});

it.each([
  ['claim', claimFromV1Beta1, claimToV1Beta1],
  ['template', templateFromV1Beta1, templateToV1Beta1],
  ['slice', sliceFromV1Beta1, sliceToV1Beta1],
] as const)('a %s without requests or devices stays unchanged', (_name, from, to) => {
  for (const unchanged of [object('O', {}), { kind: 'O', apiVersion: 'v', metadata: {} }]) {
    expect(from(unchanged)).toEqual(unchanged);
    expect(to(unchanged)).toEqual(unchanged);
  }
});

const text = fc.stringMatching(/^[a-z]{1,5}$/);
const inner = fc.record(
  {
    deviceClassName: text,
    selectors: fc.array(fc.record({ cel: fc.record({ expression: text }) })),
    allocationMode: fc.constantFrom('All', 'ExactCount'),
    count: fc.integer({ min: 1 }),
    adminAccess: fc.boolean(),
    tolerations: fc.array(fc.record({ key: text })),
    capacity: fc.record({ requests: fc.dictionary(text, text) }),
  },
  { requiredKeys: ['deviceClassName'] },
);
const alternatives = fc.array(fc.record({ name: text, deviceClassName: text }), { minLength: 1 });
const request = fc.oneof(
  fc.record({ name: text, exactly: inner }),
  fc.record({ name: text, firstAvailable: alternatives }),
  fc.record({ name: text, exactly: inner, firstAvailable: alternatives }),
);
const device = fc.record(
  {
    name: text,
    attributes: fc.dictionary(text, fc.record({ int: fc.integer() })),
    capacity: fc.dictionary(text, fc.record({ value: text })),
    taints: fc.array(fc.record({ key: text })),
    nodeName: text,
    allNodes: fc.boolean(),
  },
  { requiredKeys: ['name'] },
);

it('conversion to v1beta1 and back loses no field and changes no argument', () => {
  fc.assert(
    fc.property(fc.array(request), fc.array(device), (requests, devices) => {
      const claim = object('C', { devices: { requests } });
      const template = object('T', { metadata: {}, spec: { devices: { requests } } });
      const slice = object('S', { devices });
      const before = structuredClone([claim, template, slice]);
      expect(claimFromV1Beta1(claimToV1Beta1(claim))).toEqual(before[0]);
      expect(templateFromV1Beta1(templateToV1Beta1(template))).toEqual(before[1]);
      expect(sliceFromV1Beta1(sliceToV1Beta1(slice))).toEqual(before[2]);
      expect([claim, template, slice]).toEqual(before);
    }),
  );
});
