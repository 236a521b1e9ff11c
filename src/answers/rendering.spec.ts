import { EncodedObject } from '../cache/encoded-object.js';
import { Catalog } from '../catalog/catalog.js';
import { cborEncoding } from '../codec/cbor.js';
import { json, yaml } from '../codec/encodings.js';
import type { Encoding } from '../codec/encoding.js';
import { encodeJson } from '../codec/json.js';
import type { Transform } from '../codec/negotiate.js';
import { namingProfile } from '../config/naming-profile.js';
import { ManualClock } from '../std/clock.js';
import type { ListMeta } from './common-shapes.js';
import { Renderings, type Representation } from './rendering.js';
import type { ResourceDefinition } from '../registry/definition/resource-definition.js';
import { defaultTable } from '../registry/definition/table.js';

const definition = {
  ...{ kind: 'Pod', listKind: 'PodList', group: '', version: 'v1', itemsCarryType: false },
  table: defaultTable,
} as ResourceDefinition;
const renderingsOf = (more: Partial<ResourceDefinition> = {}) =>
  new Renderings(
    { ...definition, ...more },
    { metaGroup: 'meta.k8s.io', initialEventsEnd: 'end', clock: new ManualClock() },
  );

const odd = 'a "quoted" text\nof two lines: - # {} \u2028 ä €';
const objects = ['a', 'b', 'c'].map((name, n) => {
  const object = {
    ...{ kind: 'Pod', apiVersion: 'v1' },
    metadata: { resourceVersion: String(n), name, annotations: { note: odd }, labels: n === 1 ? {} : undefined },
    spec: { list: [[1, 2], [], [{ deep: [odd] }]], empty: {}, ...(n === 2 && { more: null }) },
  };
  return new EncodedObject(`/registry/pods/ns/${name}`, n as never, encodeJson(object), {
    ...{ name, namespace: 'ns', labels: undefined, fields: {} },
  });
});
const meta: ListMeta = { resourceVersion: '7', continue: 'x', remainingItemCount: 3 };

function joinedBytes(renderings: Renderings, representation: Representation, items: readonly EncodedObject[]): Buffer {
  const list = renderings.joinedList(representation, items.length)!;
  const pieces = items.flatMap((item, index) => {
    const bytes = list.bytesOf(item);
    return [list.separator.subarray(index === 0 ? list.firstSkip : 0), bytes.subarray(list.itemStart(bytes))];
  });
  return Buffer.concat([list.head(meta, 0), ...pieces, list.tail(meta)]);
}
const joined = (...given: Parameters<typeof joinedBytes>) => joinedBytes(...given).toString();

const plainAs = (encoding: Encoding) =>
  ({ encoding, pretty: false, transform: undefined, includeObject: 'Metadata' }) as const;
const shape = (as: Transform['as']): Transform => ({ as, group: 'meta.k8s.io', version: 'v1' });
const shapes = [undefined, shape('PartialObjectMetadataList'), shape('Table')];
const encodings: readonly (readonly [Encoding, boolean])[] = [
  [json, false],
  [json, true],
  [yaml, false],
];

describe('a list joined from its items equals the list encoded at once', () => {
  const cases = encodings.flatMap(([encoding, pretty]) =>
    shapes.map(
      (transform) =>
        [`${encoding.name}${pretty ? ' pretty' : ''} ${transform?.as ?? ''}`, encoding, pretty, transform] as const,
    ),
  );
  it.each(cases)('%s', (_name, encoding, pretty, transform) => {
    for (const itemsCarryType of [false, true]) {
      const renderings = renderingsOf({ itemsCarryType });
      for (const includeObject of ['Metadata', 'Object', 'None'] as const) {
        const representation = { encoding, pretty, transform, includeObject };
        for (const items of [objects, objects.slice(0, 1)]) {
          const parsed = items.map((item) => renderings.parse(item));
          const whole = encoding.encode(renderings.shapedList(parsed, meta, representation), { pretty }).toString();
          expect(joined(renderings, representation, items).trimEnd()).toBe(whole.trimEnd());
        }
      }
    }
  });

  it.each([undefined, shape('PartialObjectMetadataList')])('cbor %j', (transform) => {
    const types = new Catalog(namingProfile('kubernetes'));
    const encoding = cborEncoding(() => types);
    for (const itemsCarryType of [false, true]) {
      const renderings = renderingsOf({ itemsCarryType });
      const representation = { encoding, pretty: false, transform, includeObject: 'Metadata' as const };
      for (const items of [objects, objects.slice(0, 1), []]) {
        const parsed = items.map((item) => renderings.parse(item));
        const whole = encoding.encode(renderings.shapedList(parsed, meta, representation));
        expect(joinedBytes(renderings, representation, items).toString('hex')).toBe(whole.toString('hex'));
      }
    }
    expect(renderingsOf().joinedList({ ...plainAs(encoding), transform: shape('Table') }, 1)).toBeUndefined();
  });

  it('YAML and indented JSON are joined only if there are items', () => {
    const renderings = renderingsOf();
    const plain = { pretty: false, transform: undefined, includeObject: 'Metadata' } as const;
    expect(renderings.joinedList({ ...plain, encoding: yaml }, 0)).toBeUndefined();
    expect(renderings.joinedList({ ...plain, encoding: json, pretty: true }, 0)).toBeUndefined();
    expect(joined(renderings, { ...plain, encoding: json }, [])).toBe(
      `{"kind":"PodList","apiVersion":"v1","metadata":${JSON.stringify(meta)},"items":[]}\n`,
    );
  });
});

describe('renderings of watch events', () => {
  it('a Table row is rendered again when its age has changed', () => {
    const clock = new ManualClock();
    const renderings = new Renderings(definition, { metaGroup: 'meta.k8s.io', initialEventsEnd: 'end', clock });
    const table = { encoding: json, pretty: false, transform: shape('Table'), includeObject: 'None' } as const;
    const rendering = renderings.of(table);
    const before = rendering.timeBucket!();
    clock.advance(1000);
    expect(rendering.timeBucket!()).toBe(before + 1);
    expect(renderings.of({ ...table, transform: undefined }).timeBucket).toBeUndefined();
    expect(objects[0]!.rendered(rendering)).not.toBe(objects[0]!.rendered(rendering));
  });
});

it('PartialObjectMetadata leaves out annotations that hold fields', () => {
  const metadata = { name: 'a', annotations: { field: '1', note: 'x' } };
  const pod = { kind: 'Pod', apiVersion: 'v1', metadata };
  const renderings = renderingsOf({ fieldAnnotations: ['field'] });
  const plain = { encoding: json, pretty: false, includeObject: 'Metadata' } as const;
  const partial = renderings.shaped(pod, { ...plain, transform: shape('PartialObjectMetadata') });
  expect(partial).toMatchObject({ metadata: { annotations: { note: 'x' } } });
  expect(JSON.stringify(partial)).not.toContain('field');
  expect(renderings.shaped(pod, { ...plain, transform: undefined })).toBe(pod);
});
