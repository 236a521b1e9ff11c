import type { Attributes } from '../../cache/encoded-object.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { AttributeReader } from './attribute-reader.js';

const selectable = {
  'status.phase': ({ status }: KubeObject) => String((status as { phase?: string } | undefined)?.phase ?? ''),
  name: ({ metadata }: KubeObject) => metadata.name ?? '',
};
const plain = ({ namespace, name, uid, labels, fields, lifetime }: Attributes): Attributes => ({
  namespace,
  name,
  uid,
  labels,
  fields,
  lifetime,
});
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };

test.each<[string, Partial<KubeObject['metadata']>, object]>([
  ['a uid only', {}, {}],
  ['a uid and labels beyond ASCII', { uid: 'ü-1', labels: { a: 'é😀', b: '' }, ownerReferences: [owner] }, {}],
  ['labels', { namespace: 'ns', labels: { a: 'b', é: '' } }, { status: { phase: 'Running' } }],
  ['no labels', { labels: {} }, {}],
  ['owners', { ownerReferences: [owner] }, {}],
  ['finalizers and a deletion', { finalizers: ['a/b'], deletionTimestamp: '2026-11-23T00:00:00Z' }, {}],
])('reads the attributes of an object with %s, and again from its summary', (_, metadata, rest) => {
  const reader = new AttributeReader(selectable, 'v1/Boat', 'namespace' in metadata);
  const object = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'n', uid: 'u-1', ...metadata },
    ...rest,
  } as KubeObject;
  const attributes = reader.read(object);
  const { namespace = '', uid, labels, ownerReferences, finalizers, deletionTimestamp } = object.metadata;
  expect(plain(attributes)).toEqual({
    namespace,
    name: 'n',
    uid,
    labels,
    fields: { 'status.phase': 'status' in rest ? 'Running' : '', name: 'n' },
    lifetime:
      ownerReferences || finalizers
        ? { owners: ownerReferences ?? [], finalizers: finalizers ?? [], isDeleting: deletionTimestamp !== undefined }
        : undefined,
  });
  const summary = reader.summarize(attributes)!;
  const other = new AttributeReader(selectable, 'v1/Boat', 'namespace' in metadata);
  expect(plain(other.readSummary(summary, '/boats/ns/n')!)).toEqual(plain(attributes));
});

test('does not read the summary of a reader with other fields', () => {
  const { name } = selectable;
  const object = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'n', uid: 'u-1' } } as KubeObject;
  const one = new AttributeReader({ name }, 'v1/Boat', false);
  expect(
    new AttributeReader(selectable, 'v1/Boat', false).readSummary(one.summarize(one.read(object))!, '/boats/n'),
  ).toBeUndefined();
});

test('objects with equal labels and owners share them', () => {
  const reader = new AttributeReader(selectable, 'v1/Boat', false);
  const [one, other] = ['n', 'm'].map((name) => {
    const metadata = { name, uid: `u-${name}`, labels: { a: 'b' }, ownerReferences: [owner] };
    const object = { kind: 'Pod', apiVersion: 'v1', metadata, status: { phase: `of\n${name}` } } as KubeObject;
    const read = reader.readSummary(reader.summarize(reader.read(object))!, `/boats/${name}`)!;
    expect(plain(read)).toEqual(plain(reader.read(object)));
    return read;
  });
  expect(one!.labels).toBe(other!.labels);
  expect(one!.lifetime).toBe(other!.lifetime);
});

test('written objects with equal selectable fields share them', () => {
  const { name: _, ...ofPhase } = selectable;
  const reader = new AttributeReader(ofPhase, 'v1/Boat', false);
  const read = (name: string, phase: string) =>
    reader.read({ kind: 'Pod', apiVersion: 'v1', metadata: { name }, status: { phase } }).fields;
  expect(read('a', 'Running')).toBe(read('b', 'Running'));
  const unusual = ['', 'c', '0', '"', ',', '\u0000', 'null'];
  expect(unusual.map((phase) => read('c', phase))).toEqual(unusual.map((phase) => ({ 'status.phase': phase })));
  expect(read('a', 'c')).toEqual({ 'status.phase': 'c' });
});

test('makes no summary of an object without a uid', () => {
  const reader = new AttributeReader({}, 'v1/Boat', false);
  const object = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'n' } } as KubeObject;
  expect(reader.read(object).uid).toBeUndefined();
  expect(reader.summarize(reader.read(object))).toBeUndefined();
});

test('makes no summary of large metadata', () => {
  const reader = new AttributeReader({}, 'v1/Boat', false);
  const labels = Object.fromEntries(Array.from({ length: 1_000 }, (__, n) => [`label-${n}`, 'x'.repeat(60)]));
  const object = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'n', uid: 'u-1', labels } } as KubeObject;
  expect(reader.summarize(reader.read(object))).toBeUndefined();
});
