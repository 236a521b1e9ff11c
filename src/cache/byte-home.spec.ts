import { createHash } from 'node:crypto';
import { spliceResourceVersion } from '../codec/stored-object.js';
import { ManualClock, systemClock } from '../std/clock.js';
import { SeededRng } from '../std/rng.js';
import { ByteHome } from './byte-home.js';
import { defaultCacheLimits } from './cache-limits.js';
import { EncodedObject, type Rendering } from './encoded-object.js';
import type { PackedBytes } from './packed-bytes.js';

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
    for (let round = 0; round < 10; round++) home.tidy(0);
    expect(home.size.live).toBe(17_500_000);
    expect(home.size.taken).toBeLessThanOrEqual(home.size.live + 2 * mebibyte);
  });

  it('loses no bytes when there is no memory for another slab while gaps are closed', () => {
    let isFull = false;
    const allocate = (bytes: number) => {
      if (isFull) throw new RangeError('Array buffer allocation failed');
      return Buffer.alloc(bytes);
    };
    const home = new ByteHome(defaultCacheLimits, systemClock, allocate);
    const objects = Array.from({ length: 20_000 }, (_, number) => objectOf(number, 1_000));
    for (const object of objects) object.hold(home);
    const left = objects.filter((object, number) => number % 3 > 0 || (object.release(), false));
    isFull = true;
    expect(() => {
      for (let round = 0; round < 10; round++) home.tidy(0);
    }).toThrow('allocation failed');
    expect(home.size.live).toBe(left.length * 1_000);
    isFull = false;
    for (let round = 0; round < 10; round++) home.tidy(0);
    left.forEach((object, number) => number % 2 === 0 && object.release());
    const rest = left.filter((_, number) => number % 2 === 1);
    expect(home.size.live).toBe(rest.length * 1_000);
    for (const object of rest) expect(object.bytes.equals(Buffer.alloc(1_000, object.revision))).toBe(true);
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
    const home = new ByteHome(defaultCacheLimits, systemClock, (bytes) => {
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

  it('takes memory that V8 does not count for a large store, except for what takes the place of dropped memory', () => {
    const counted: boolean[] = [];
    const home = new ByteHome(defaultCacheLimits, systemClock, (bytes, isCounted) => {
      if (bytes > 32 * mebibyte) counted.push(isCounted);
      return Buffer.alloc(bytes);
    });
    const holdMore = (count: number) => {
      const objects = Array.from({ length: count }, (_, number) => objectOf(number, 100 * 1024));
      for (const object of objects) object.hold(home);
      return objects;
    };
    holdMore(900);
    const gone = holdMore(600);
    expect(counted).toEqual([false, false, false]);
    for (const object of gone) object.release();
    holdMore(1_200);
    // Two of the three had only objects that are gone.
    expect(counted.slice(3)).toEqual([true, true, false, false]);
  });

  it('collects garbage once, when nothing is written, if much memory was dropped and V8 has not released it', () => {
    let collections = 0;
    const home = new ByteHome(defaultCacheLimits, systemClock, undefined, () => collections++);
    const objects = Array.from({ length: 1_000 }, (_, number) => objectOf(number, 100 * 1024));
    for (const object of objects) object.hold(home);
    home.tidy(0);
    for (const object of objects) object.release();
    expect(home.size).toEqual({ live: 0, taken: 0 });
    expect(collections).toBe(0);
    for (const nowMs of [5_000, 10_000]) home.tidy(nowMs);
    expect(collections).toBe(1);
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
    for (let tick = 0; tick < 12; tick++) home.tidy(0);
    object.rendered(cheap);
    for (let tick = 0; tick < 12; tick++) home.tidy(0);
    expect([cheap, costly].map((one) => object.hasRendering(one))).toEqual([true, true]);
    home.tidy(0);
    expect([cheap, costly].map((one) => object.hasRendering(one))).toEqual([false, true]);
  });

  describe('with more bytes than stay in memory', () => {
    const limits = { warmBytes: 20_000, coldPassMs: 60_000 };

    const podValue = (number: number) =>
      Buffer.from(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p${number}"},"spec":"${'x'.repeat(900)}"}`);

    function podObject(number: number): EncodedObject {
      const bytes = spliceResourceVersion(podValue(number), 7 as never);
      return new EncodedObject(`/registry/pods/ns/p${number}`, 7 as never, bytes, attributes);
    }

    /** Objects of 1,000 bytes, which are in a store too. */
    function storedObjects(home: ByteHome, count: number) {
      const reads: string[] = [];
      const objects = Array.from({ length: count }, (_, number) => {
        const value = podValue(number);
        const object = podObject(number);
        object.hold(home);
        object.mayReread(value, (asked) => {
          reads.push(asked);
          return value;
        });
        return object;
      });
      return { objects, reads };
    }

    const ownMemory = (object: EncodedObject) => (object as unknown as { own: unknown }).own;
    const inMemory = (objects: readonly EncodedObject[]) => objects.filter(({ slab }) => slab).map(({ key }) => key);

    it('lets go of objects that nobody has read for a pass, and reads them from the store when somebody does', () => {
      const home = new ByteHome(limits);
      const { objects, reads } = storedObjects(home, 100);
      const all = objects.map(({ bytes }) => bytes.toString());
      const [first, second, last] = [objects[0]!, objects[1]!, objects[99]!];
      home.tidy(0);
      first.copyTo(Buffer.alloc(2_000), 0, 0);
      second.byteAt(3);
      expect(last.bytes.toString()).toBe(all[99]);
      home.tidy(59_999);
      expect(home.size.live).toBe(objects.reduce((sum, { byteLength }) => sum + byteLength, 0));
      home.tidy(60_000);
      expect(inMemory(objects)).toEqual([first.key, second.key, last.key]);
      expect(home.size.live).toBe(first.byteLength + second.byteLength + last.byteLength);
      expect(reads).toEqual([]);
      expect(objects.map(({ bytes }) => bytes.toString())).toEqual(all);
      expect(reads).toHaveLength(97);
      expect(objects.every(({ slab }) => slab)).toBe(true);
    });

    it('keeps all of them while they are few', () => {
      const home = new ByteHome(limits);
      const { objects } = storedObjects(home, 19);
      for (let tick = 0; tick < 10; tick++) home.tidy(tick * 60_000);
      expect(objects.every(({ slab }) => slab)).toBe(true);
    });

    it('keeps those that the store no longer has as the latest state', () => {
      const home = new ByteHome(limits);
      const { objects, reads } = storedObjects(home, 100);
      for (let tick = 0; tick < 2; tick++) home.tidy(tick * 60_000);
      const replaced = objects.slice(0, 50);
      for (const object of replaced) object.fetch();
      expect(reads).toHaveLength(50);
      for (let tick = 2; tick < 5; tick++) home.tidy(tick * 60_000);
      expect(inMemory(objects)).toEqual(replaced.map(({ key }) => key));
    });

    it('keeps those that the store would give in other bytes', () => {
      const home = new ByteHome(limits);
      const { objects } = storedObjects(home, 100);
      const other = new EncodedObject('/registry/pods/ns/o', 7 as never, Buffer.alloc(1_000, 'o'), attributes);
      other.hold(home);
      other.mayReread(Buffer.alloc(900, 'o'), () => Buffer.alloc(900, 'o'));
      for (let tick = 0; tick < 5; tick++) home.tidy(tick * 60_000);
      expect(inMemory([other, ...objects])).toEqual([other.key]);
    });

    it('keeps no more renderings of those that have left than of others', () => {
      const home = new ByteHome(limits);
      const { objects } = storedObjects(home, 100);
      for (let tick = 0; tick < 2; tick++) home.tidy(tick * 60_000);
      expect(inMemory(objects)).toEqual([]);
      const rendering: Rendering = {
        id: 'large',
        render: (object) => Buffer.alloc(1024 * object.bytes.length),
        frame: (_type, body) => body,
        bookmark: () => Buffer.alloc(0),
        error: () => Buffer.alloc(0),
      };
      for (const object of objects) object.rendered(rendering);
      const kept = objects.filter((object) => object.hasRendering(rendering)).length;
      expect(kept).toBe(Math.floor((64 * 1024) / objects[99]!.byteLength));
    });

    describe('if no store reads them again', () => {
      const clock = new ManualClock();
      const compress = () => clock.advance(1_000);

      /** Objects of 1,000 bytes that leave memory at the second pass. */
      function coldObjects(home: ByteHome, count: number) {
        const objects = Array.from({ length: count }, (_, number) => podObject(number));
        for (const object of objects) object.hold(home);
        const texts = objects.map(({ bytes }) => bytes.toString());
        pass(home);
        expect(inMemory(objects)).toEqual([]);
        return { objects, texts };
      }

      let nowMs = 0;
      const pass = (home: ByteHome) => {
        for (let passes = 0; passes < 3; passes++) home.tidy((nowMs += limits.coldPassMs));
        compress();
      };

      it('compresses objects that nobody has read for a pass, and reads one without the others', () => {
        const home = new ByteHome(limits, clock);
        const { objects, texts } = coldObjects(home, 200);
        expect(home.size).toEqual({ live: 0, taken: 0 });
        for (const [read, object] of objects.slice(0, 40).entries()) {
          clock.advance(5_000);
          expect(object.bytes.toString()).toBe(texts[read]);
        }
        expect(inMemory(objects)).toEqual([]);
      });

      it('brings an object back that is read again soon after', () => {
        const home = new ByteHome(limits, clock);
        const { objects, texts } = coldObjects(home, 100);
        expect(objects[42]!.bytes.toString()).toBe(texts[42]);
        clock.advance(4_999);
        expect(objects[42]!.bytes.toString()).toBe(texts[42]);
        expect(inMemory(objects)).toEqual([objects[42]!.key]);
      });

      it('brings all objects of a block back if several are read at about the same time', () => {
        const home = new ByteHome(limits, clock);
        const { objects, texts } = coldObjects(home, 200);
        for (const number of [150, 151]) {
          clock.advance(1);
          expect(objects[number]!.bytes.toString()).toBe(texts[number]);
        }
        const returned = inMemory(objects).length;
        expect(returned).toBeGreaterThan(10);
        expect(returned).toBeLessThan(30);
        expect(objects.map(({ bytes }) => bytes.toString())).toEqual(texts);
        expect(objects.every(({ slab }) => slab)).toBe(true);
        expect(objects.every((object) => !ownMemory(object))).toBe(true);
      });

      it('moves no objects out of the way that are about to leave', () => {
        const allocated: number[] = [];
        const home = new ByteHome(limits, clock, (bytes) => (allocated.push(bytes), Buffer.alloc(bytes)));
        const objects = Array.from({ length: 7_000 }, (_, number) => podObject(number));
        for (const object of objects) object.hold(home);
        const slabs = allocated.length;
        for (let passes = 0; passes < 3; passes++) home.tidy((nowMs += 60_000));
        // Half of the objects are replaced while they wait.
        for (let number = 0; number < objects.length; number += 2) {
          objects[number]!.release();
          podObject(number).hold(home);
        }
        expect(allocated.length - slabs).toBeLessThanOrEqual(4);
        const rest = objects.filter((_, number) => number % 2 === 1);
        compress();
        expect(inMemory(rest)).toEqual([]);
      });

      it('lets objects leave again that were read since', () => {
        const home = new ByteHome(limits, clock);
        const { objects, texts } = coldObjects(home, 100);
        for (let round = 1; round < 4; round++) {
          expect(objects.map(({ bytes }) => bytes.toString())).toEqual(texts);
          for (let passes = 0; passes < 2; passes++) home.tidy((nowMs += limits.coldPassMs));
          // Without another compression, which would take a while.
          expect(inMemory(objects)).toEqual([]);
        }
      });

      it('keeps objects that were read while they were compressed', () => {
        const home = new ByteHome(limits, clock);
        const objects = Array.from({ length: 100 }, (_, number) => podObject(number));
        for (const object of objects) object.hold(home);
        for (let passes = 0; passes < 2; passes++) home.tidy((nowMs += limits.coldPassMs));
        const texts = objects.slice(0, 10).map(({ bytes }) => bytes.toString());
        compress();
        expect(inMemory(objects)).toHaveLength(10);
        expect(objects.slice(0, 10).map(({ bytes }) => bytes.toString())).toEqual(texts);
      });

      it('reads objects that were replaced, which do not return to the home', () => {
        const home = new ByteHome(limits, clock);
        const { objects, texts } = coldObjects(home, 100);
        objects[7]!.release();
        expect(objects[7]!.bytes.toString()).toBe(texts[7]);
        expect(objects[7]!.slot).toBe(-1);
        expect(objects[7]!.bytes.buffer.byteLength).toBe(objects[7]!.byteLength);
        expect(objects[8]!.bytes.toString()).toBe(texts[8]);
      });

      it('takes the rest of a block back into memory when most of it was replaced', () => {
        const home = new ByteHome(limits, clock);
        const { objects, texts } = coldObjects(home, 60);
        objects.forEach((object, number) => number % 3 > 0 && object.release());
        expect(home.size.live).toBe(0);
        home.tidy(nowMs);
        compress();
        const rest = objects.filter((_, number) => number % 3 === 0);
        const textsOfRest = texts.filter((_, number) => number % 3 === 0);
        expect(inMemory(rest)).toHaveLength(20);
        expect(rest.map(({ bytes }) => bytes.toString())).toEqual(textsOfRest);
        // They are compressed again, with others.
        const others = Array.from({ length: 40 }, (_, number) => podObject(100 + number));
        for (const object of others) object.hold(home);
        pass(home);
        expect(inMemory([...rest, ...others])).toEqual([]);
        expect(rest.map(({ bytes }) => bytes.toString())).toEqual(textsOfRest);
      });

      it('keeps objects in memory while there is none to compress them', () => {
        const home = new ByteHome(limits, clock);
        const objects = Array.from({ length: 100 }, (_, number) => podObject(number));
        for (const object of objects) object.hold(home);
        const fails = jest.spyOn(Buffer, 'allocUnsafeSlow').mockImplementation(() => {
          throw new RangeError('Array buffer allocation failed');
        });
        try {
          pass(home);
        } finally {
          fails.mockRestore();
        }
        expect(inMemory(objects)).toHaveLength(100);
        pass(home);
        expect(inMemory(objects)).toEqual([]);
      });

      it('reports other errors of compression', () => {
        const home = new ByteHome(limits, clock);
        for (let number = 0; number < 100; number++) podObject(number).hold(home);
        const fails = jest.spyOn(Buffer, 'allocUnsafeSlow').mockImplementation(() => {
          throw new Error('a mistake');
        });
        try {
          expect(() => pass(home)).toThrow('a mistake');
        } finally {
          fails.mockRestore();
        }
      });

      it('keeps no block of which all objects were replaced', () => {
        const home = new ByteHome(limits, clock);
        const { objects } = coldObjects(home, 100);
        const { compressor } = home as unknown as { compressor: { sparse: Set<unknown> } };
        const counts = objects.map((object) => (object.release(), compressor.sparse.size));
        expect(Math.max(...counts)).toBe(1);
        expect(compressor.sparse.size).toBe(0);
      });

      it('keeps the compressed bytes of the others when most objects go, close together', () => {
        const home = new ByteHome(limits, clock);
        const rng = new SeededRng(3);
        const bytesOf = new Map<EncodedObject, Buffer>();
        for (let number = 0; number < 3_000; number++) {
          const bytes = createHash('shake256', { outputLength: 3_000 }).update(`${number}`).digest();
          const object = new EncodedObject(`/registry/pods/ns/p${number}`, 7 as never, bytes, attributes);
          object.hold(home);
          bytesOf.set(object, bytes);
        }
        pass(home);
        expect(inMemory([...bytesOf.keys()])).toEqual([]);
        const { blocks } = (home as unknown as { compressor: { blocks: PackedBytes<never> } }).compressor;
        expect(blocks.size.live).toBeGreaterThan(3_000 * 3_000);
        const gone = [...bytesOf.keys()].filter(() => rng.below(10) < 7);
        for (const object of gone) object.release();
        for (let round = 0; round < 3; round++) pass(home);
        const left = [...bytesOf.keys()].filter((object) => !gone.includes(object));
        expect(inMemory(left)).toEqual([]);
        expect(blocks.size.live).toBeLessThan(left.length * 3_000 * 2);
        expect(blocks.size.taken).toBeLessThan(blocks.size.live * 1.25 + 2 * mebibyte);
        // Objects that are gone can still be read by who has them.
        for (const [object, bytes] of bytesOf) expect(object.bytes.equals(bytes)).toBe(true);
      });

      it('keeps objects as they are that the store reads again, too', () => {
        const home = new ByteHome(limits, clock);
        const { objects, reads } = storedObjects(home, 100);
        const { objects: others } = coldObjects(home, 100);
        expect(inMemory(objects)).toEqual([]);
        expect(others[0]!.bytes.length).toBe(others[0]!.byteLength);
        expect(reads).toEqual([]);
      });
    });

    it('visits few at a time', () => {
      const home = new ByteHome({ ...limits, coldPassMs: 60_000 });
      const { objects } = storedObjects(home, 20_000);
      const left = () => objects.filter(({ slab }) => !slab).length;
      // The first pass takes three calls.
      const counts = Array.from({ length: 6 }, (_, call) => (home.tidy(call * 20_000), left()));
      expect(counts.slice(0, 3)).toEqual([0, 0, 0]);
      for (let tick = 3, before = 0; tick < 6; before = counts[tick++]!) {
        expect(counts[tick]! - before).toBeGreaterThan(0);
        expect(counts[tick]! - before).toBeLessThanOrEqual(8_000);
      }
    });
  });
});
