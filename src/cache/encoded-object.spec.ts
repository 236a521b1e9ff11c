import { jsonRendering } from '../../test/harness/cache-world.js';
import { EncodedObject, type Rendering } from './encoded-object.js';

const attributes = { namespace: 'ns', name: 'a', labels: undefined, fields: {} };
const encoded = (json: string) => new EncodedObject('/registry/pods/ns/a', 7 as never, Buffer.from(json), attributes);

describe('EncodedObject', () => {
  const rows = [
    {
      name: 'JSON of this server',
      json: '{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7","name":"a"}}',
    },
    {
      name: 'metadata with only a resourceVersion',
      json: '{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7"}}',
    },
    {
      name: 'the same text in another field',
      json: '{"kind":"C","apiVersion":"v1","metadata":{"resourceVersion":"7"},"data":{"resourceVersion":"7"}}',
    },
    {
      name: 'another field order',
      json: '{"data":{"resourceVersion":"7"},"metadata":{"name":"a","resourceVersion":"7"},"kind":"C"}',
    },
  ];
  it.each(rows)('at() changes only the resourceVersion: $name', ({ json }) => {
    const object = encoded(json);
    const later = object.at(1234 as never);
    const want = object.parse();
    want.metadata.resourceVersion = '1234';
    expect(later.parse()).toEqual(want);
    expect([later.revision, later.key, object.revision]).toEqual([1234, object.key, 7]);
    expect(object.bytes.toString()).toBe(json);
    expect(object.at(7 as never)).toBe(object);
  });

  it('parse() returns a new object on every call', () => {
    const object = encoded(rows[0]!.json);
    object.parse().metadata.name = 'changed';
    expect(object.parse().metadata.name).toBe('a');
  });

  it('renders once per id, keeps a few renderings, and copies them out of pools', () => {
    const object = encoded(rows[0]!.json);
    let renders = 0;
    const rendering = (id: string): Rendering => ({
      ...jsonRendering,
      id,
      render: () => {
        renders++;
        return Buffer.from(`as ${id}`);
      },
    });
    expect(object.rendered(jsonRendering)).toBe(object.bytes);
    const first = object.rendered(rendering('table'));
    expect(object.rendered(rendering('table'))).toBe(first);
    expect([first.toString(), first.buffer.byteLength, renders]).toEqual(['as table', 8, 1]);
    for (const id of ['1', '2', '3', '4', '1', '2']) object.rendered(rendering(id));
    expect(renders).toBe(5);
    object.rendered(rendering('table'));
    expect(renders).toBe(6);
  });

  it('a corrupt object throws its decoding error on every read', () => {
    const object = EncodedObject.corrupt(
      { key: '/registry/pods/ns/a', modRevision: 7 as never, value: Buffer.from('x') },
      new Error('rotten'),
    );
    expect(() => object.parse()).toThrow('rotten');
    expect(() => object.rendered(jsonRendering)).toThrow('rotten');
    expect(object.at(8 as never)).toBe(object);
    expect(object.attributes).toEqual({ namespace: 'ns', name: 'a', labels: undefined, fields: {} });
  });
});
