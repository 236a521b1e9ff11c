import { SeededRng } from '../std/rng.js';
import { ByteHome } from './byte-home.js';
import { EncodedObject, type Rendering } from './encoded-object.js';

const attributes = { namespace: 'ns', name: 'a', labels: undefined, fields: {} };
const mebibyte = 1024 * 1024;

function objectOf(number: number, length: number): EncodedObject {
  return new EncodedObject(`/registry/pods/ns/p${number}`, number as never, Buffer.alloc(length, number), attributes);
}

describe('the home of the bytes of cached objects', () => {
  it('keeps the bytes of each object while others come, go and move', () => {
    const home = new ByteHome();
    const rng = new SeededRng(7);
    const kept = new Map<number, EncodedObject>();
    for (let number = 0; number < 20_000; number++) {
      const object = objectOf(number, 1 + rng.below(4_000));
      object.hold(home);
      kept.set(number, object);
      if (number < 4_000) continue;
      const gone = rng.below(number);
      kept.get(gone)?.release();
      kept.delete(gone);
    }
    for (const [number, object] of kept) {
      expect(object.bytes.equals(Buffer.alloc(object.byteLength, number))).toBe(true);
    }
    const live = [...kept.values()].reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(home.size.live).toBe(live);
    expect(home.size.taken).toBeLessThan(live * 1.25 + 2 * mebibyte);
  });

  it('leaves the bytes of a reader as they were when their object has gone', () => {
    const home = new ByteHome();
    const objects = Array.from({ length: 4_000 }, (_, number) => objectOf(number, 2_000));
    for (const object of objects) object.hold(home);
    const views = objects.map(({ bytes }) => bytes);
    for (const object of objects) object.release();
    for (let number = 0; number < 4_000; number++) objectOf(number + 1, 2_000).hold(home);
    views.forEach((view, number) => expect(view.equals(Buffer.alloc(2_000, number))).toBe(true));
    expect(objects[9]!.bytes.equals(views[9]!)).toBe(true);
  });

  it('closes gaps when nothing is written', () => {
    const home = new ByteHome();
    const objects = Array.from({ length: 20_000 }, (_, number) => objectOf(number, 1_000));
    for (const object of objects) object.hold(home);
    objects.forEach((object, number) => number % 8 === 0 && object.release());
    for (let round = 0; round < 10; round++) home.tidy();
    expect(home.size.live).toBe(17_500_000);
    expect(home.size.taken).toBeLessThanOrEqual(home.size.live + 2 * mebibyte);
  });

  it('gives up bytes when the last holder releases them', () => {
    const home = new ByteHome();
    const object = objectOf(1, 100);
    object.hold(home);
    object.hold();
    object.release();
    expect(home.size.live).toBe(100);
    object.release();
    expect(home.size).toEqual({ live: 0, taken: 0 });
  });

  it('takes memory from the given source, and none for large objects', () => {
    const sizes: number[] = [];
    const home = new ByteHome((bytes) => {
      sizes.push(bytes);
      return Buffer.from(new SharedArrayBuffer(bytes));
    });
    const [small, large] = [objectOf(1, 100), objectOf(2, mebibyte)];
    small.hold(home);
    large.hold(home);
    expect(sizes).toEqual([mebibyte / 8]);
    expect(small.bytes.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(large.bytes.length).toBe(mebibyte);
  });

  it('drops renderings that nobody has read for a minute, but not those that are costly', () => {
    const home = new ByteHome();
    const object = objectOf(1, 100);
    object.hold(home);
    const rendering = (id: string, isPinned: boolean): Rendering => ({
      ...{ id, isPinned },
      render: () => Buffer.alloc(50),
      frame: (_type, body) => body,
      bookmark: () => Buffer.alloc(0),
      error: () => Buffer.alloc(0),
    });
    const [cheap, costly] = [rendering('cheap', false), rendering('costly', true)];
    object.rendered(cheap);
    object.rendered(costly);
    for (let tick = 0; tick < 12; tick++) home.tidy();
    object.rendered(cheap);
    for (let tick = 0; tick < 12; tick++) home.tidy();
    expect([cheap, costly].map((one) => object.hasRendering(one))).toEqual([true, true]);
    home.tidy();
    expect([cheap, costly].map((one) => object.hasRendering(one))).toEqual([false, true]);
  });
});
