import { jsonRendering } from '../../test/harness/cache-world.js';
import { StorageError } from '../storage/storage-error.js';
import { spliceWhenCopied } from '../codec/stored-object.js';
import { ByteHome } from './byte-home.js';
import { BytesInStore } from './bytes-in-store.js';
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

  it.each([
    ['a small', 10, (object: EncodedObject) => object.hold(new ByteHome())],
    ['a large', 200_000, (object: EncodedObject) => object.hold(new ByteHome())],
    ['a small', 10, (object: EncodedObject) => object.detach()],
  ])('%s object that is kept does not keep the page that its value is part of', (_size, length, keep) => {
    const json = `{"kind":"C","apiVersion":"v1","metadata":{"name":"a"},"data":"${'x'.repeat(length)}"}`;
    const page = Buffer.from(`before${json}behind`);
    const value = page.subarray('before'.length, -'behind'.length);
    const spliced = spliceWhenCopied(value, 7 as never);
    const object = new EncodedObject('/registry/c/a', 7 as never, spliced, attributes);
    keep(object);
    page.fill('0');
    expect(object.parse()).toMatchObject({ metadata: { resourceVersion: '7', name: 'a' }, data: 'x'.repeat(length) });
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

  describe('with bytes that are still in the store', () => {
    const json = '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}';
    const read = '{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7","name":"a"}}';
    const deferred = (answer: () => Buffer) => {
      let reads = 0;
      const value = {
        length: json.length,
        read: () => {
          reads++;
          return answer();
        },
      };
      const bytes = BytesInStore.of(value, 7 as never);
      const object = new EncodedObject('/registry/pods/ns/a', 7 as never, bytes, attributes);
      return { object, reads: () => reads };
    };

    it('reads them once, when somebody asks, to its home', () => {
      const { object, reads } = deferred(() => Buffer.from(json));
      object.hold(new ByteHome());
      expect([object.byteLength, object.slab, reads()]).toEqual([read.length, undefined, 0]);
      expect([object.bytes.toString(), object.parse().metadata.name, reads()]).toEqual([read, 'a', 1]);
      expect(object.slab).toBeDefined();
      object.release();
    });

    it.each([
      ['parse', (object: EncodedObject) => object.parse()],
      ['byteAt', (object: EncodedObject) => object.byteAt(2)],
      ['copyTo', (object: EncodedObject) => object.copyTo(Buffer.alloc(read.length), 0, 0)],
      ['at', (object: EncodedObject) => object.at(8 as never)],
    ])('answers %s like an object with bytes', (_name, ask) => {
      const { object } = deferred(() => Buffer.from(json));
      expect(ask(object)).toEqual(ask(encoded(read)));
    });

    it('is unreadable from the first read of a damaged value on', () => {
      const { object, reads } = deferred(() => {
        throw new StorageError('corrupt', 'rotten');
      });
      expect(object.corruption).toBeUndefined();
      for (let time = 0; time < 2; time++) expect(() => object.bytes).toThrow('rotten');
      expect([object.corruption?.message, reads()]).toEqual(['rotten', 1]);
    });

    it('reads again after an error that may pass', () => {
      let isClosed = true;
      const { object } = deferred(() => {
        if (isClosed) throw new StorageError('unavailable', 'busy');
        return Buffer.from(json);
      });
      expect(() => object.bytes).toThrow('busy');
      isClosed = false;
      expect(object.bytes.toString()).toBe(read);
    });
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
