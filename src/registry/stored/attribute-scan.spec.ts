import { Catalog } from '../../catalog/catalog.js';
import { namingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { AttributeReader } from './attribute-reader.js';
import { AttributeScan } from './attribute-scan.js';

const type = new Catalog(namingProfile('kubernetes')).kind('', 'v1', 'Pod')!;
const selectable = {
  'spec.nodeName': ({ spec }: KubeObject) => (spec as { nodeName?: string } | undefined)?.nodeName ?? '',
};
const scanOf = (isNamespaced = true) => {
  const reader = new AttributeReader(selectable, 'v1/Pod', isNamespaced);
  return AttributeScan.of(reader, { type, labels: Object.keys(selectable), isNamespaced })!;
};
const json = (metadata: object, spec: object = {}) =>
  Buffer.from(JSON.stringify({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'n', uid: 'u', ...metadata }, spec }));
const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`label-${n}`, 'x'.repeat(20)]));

test.each<[string, boolean, object, string]>([
  ['whose name is not that of its key', true, { namespace: 'ns', name: 'm' }, '/pods/ns/n'],
  ['whose namespace is not that of its key', true, { namespace: 'other' }, '/pods/ns/n'],
  ['without a namespace', true, {}, '/pods/ns/n'],
  ['with a namespace that its kind does not have', false, { namespace: 'ns' }, '/pods/n'],
  ['without a uid', true, { namespace: 'ns', uid: '' }, '/pods/ns/n'],
  ['with an escape in its uid', true, { namespace: 'ns', uid: 'a"b' }, '/pods/ns/n'],
  ['with labels beyond ASCII', true, { namespace: 'ns', labels: { a: 'é' } }, '/pods/ns/n'],
  ['with large labels', true, { namespace: 'ns', labels: many }, '/pods/ns/n'],
])('leaves an object %s to the parser', (_, isNamespaced, metadata, key) => {
  expect(scanOf(isNamespaced).read(json(metadata), key)).toBeUndefined();
  const usual = isNamespaced ? { namespace: 'ns' } : {};
  expect(scanOf(isNamespaced).read(json(usual), isNamespaced ? '/pods/ns/n' : '/pods/n')).toMatchObject({
    name: 'n',
    uid: 'u',
  });
});

test('objects with equal values share their selectable fields', () => {
  const scan = scanOf();
  const [one, other, third] = ['n-1', 'n-1', 'n-2'].map((nodeName) =>
    scan.read(json({ namespace: 'ns' }, { nodeName }), '/pods/ns/n')!,
  );
  expect(one!.fields).toBe(other!.fields);
  expect([one!.fields, third!.fields]).toEqual([{ 'spec.nodeName': 'n-1' }, { 'spec.nodeName': 'n-2' }]);
});

test('is not made for a selectable field that is not named by its path', () => {
  const reader = new AttributeReader({ name: () => '' }, 'v1/Pod', true);
  expect(AttributeScan.of(reader, { type, labels: ['name'], isNamespaced: true })).toBeUndefined();
});
