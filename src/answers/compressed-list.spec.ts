import { gunzipSync } from 'node:zlib';
import { ByteHome } from '../cache/byte-home.js';
import { EncodedObject } from '../cache/encoded-object.js';
import { revisionOf } from '../machinery/revision.js';
import type { ListRendering } from './rendering.js';
import { LoopYieldTimer } from '../std/loop-yield-timer.js';
import { systemClock } from '../std/clock.js';
import { compressedList } from './compressed-list.js';

let encoded = 0;
const rendering: ListRendering = {
  id: 'text',
  mediaType: 'application/json',
  head: () => Buffer.from('['),
  tail: () => Buffer.from(']'),
  separator: Buffer.from(', '),
  firstSkip: 2,
  bytesOf: ({ bytes }) => {
    encoded++;
    return bytes;
  },
  itemStart: () => 1,
  itemEnd: (bytes) => bytes.length - 1,
  parses: () => false,
  isKept: true,
};
const ends = { head: Buffer.from('['), tail: Buffer.from(']') };

function object(name: string, revision: number): EncodedObject {
  const bytes = Buffer.from(`<${`${name}@${revision} `.repeat(100)}>`);
  return new EncodedObject(name, revisionOf(revision), bytes, { namespace: '', name, labels: undefined, fields: {} });
}

async function compressed(objects: readonly EncodedObject[]): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const itemLengths = Float64Array.from(objects, ({ byteLength }) => byteLength - 2);
  const pace = { sliceBytes: 1000, yieldTimer: new LoopYieldTimer(systemClock, 4), clock: systemClock };
  for await (const piece of compressedList({ rendering, ...ends, objects, itemLengths }, pace)) pieces.push(piece);
  return Buffer.concat(pieces);
}

const plain = (objects: readonly EncodedObject[]) =>
  `[${objects.map(({ bytes }) => bytes.toString().slice(1, -1)).join(', ')}]`;

it.each([0, 1, 2, 500])('writes a list of %d items', async (count) => {
  const objects = Array.from({ length: count }, (_, i) => object(`o${i}`, i + 1));
  expect(gunzipSync(await compressed(objects)).toString()).toBe(plain(objects));
});

it('contains every change, despite cached runs', async () => {
  let seed = 7;
  const below = (limit: number) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % limit;
  let revision = 1000;
  const objects = Array.from({ length: 600 }, (_, i) => object(`o${i}`, i + 1));
  for (let round = 0; round < 40; round++) {
    const at = below(objects.length);
    if (below(3) === 0) objects.splice(at, 1);
    else if (below(2) === 0) objects.splice(at, 0, object(`n${round}`, ++revision));
    else objects[at] = object(objects[at]!.key, ++revision);
    const shown = below(4) === 0 ? objects.filter((_, i) => i % 3 === 0) : objects;
    expect(gunzipSync(await compressed(shown)).toString()).toBe(plain(shown));
  }
});

it('a run after a change has the same bytes as before', async () => {
  const objects = Array.from({ length: 2000 }, (_, i) => object(`o${i}`, i + 1));
  const first = await compressed(objects);
  const changed = [...objects];
  changed[1000] = object('o1000', 5000);
  const second = await compressed(changed);
  // The bytes before the change and after its run are identical.
  let before = 0;
  while (first[before] === second[before]) before++;
  let behind = 0;
  while (first.at(-20 - behind) === second.at(-20 - behind)) behind++;
  expect(before + behind).toBeGreaterThan(first.length * 0.9);
});

it('reads no object of runs that have not changed, also if their bytes have moved', async () => {
  const objects = Array.from({ length: 2000 }, (_, i) => object(`o${i}`, i + 1));
  const home = new ByteHome();
  for (const each of objects) each.hold(home);
  const first = await compressed(objects);
  encoded = 0;
  expect((await compressed(objects)).equals(first)).toBe(true);
  expect(encoded).toBe(0);
  await compressed(objects.with(1000, object('o1000', 5000)));
  expect(encoded).toBeGreaterThan(0);
  expect(encoded).toBeLessThan(500);
});
