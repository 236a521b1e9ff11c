import { revisionOf } from '../machinery/revision.js';
import { ManualClock } from '../std/clock.js';
import { SortedMap } from '../std/sorted-map.js';
import { yieldEventLoop } from '../std/yield-event-loop.js';
import { CacheEvent } from './cache-event.js';
import { EncodedObject } from './encoded-object.js';
import { LabelIndexes } from './label-indexes.js';

const apps = 100;
const seed = Number(process.env['SEED'] ?? 7);

/** A clock by which all work takes long, so that an index is built in many slices. */
class HastyClock extends ManualClock {
  private readings = 0;
  override monotonicMs(): number {
    return super.monotonicMs() + 10 * this.readings++;
  }
}

/** A resource and its indexes, updated as the cache does. */
class World {
  readonly state = new SortedMap<EncodedObject>();
  readonly indexes = new LabelIndexes(new HastyClock());
  private revision = 0;
  private random = seed;

  /** The number of indexes, complete or not. */
  get size(): number {
    return this.indexes['indexes'].size;
  }

  put(key: string, labels: Record<string, string> | undefined): void {
    const [, , namespace = '', name = ''] = key.split('/');
    const attributes = { namespace, name, labels, fields: {} };
    this.change(key, new EncodedObject(key, revisionOf(++this.revision), Buffer.alloc(0), attributes));
  }

  delete(key: string): void {
    this.change(key, undefined);
  }

  /** The keys found by an index; undefined if none answers. */
  found(labels: Record<string, string>, prefix = '/pods/', from = prefix): string[] | undefined {
    const equalities = Object.entries(labels).map(([label, value]) => ({ label, value }));
    const found = this.indexes.range(this.state.snapshot(), equalities, prefix, from);
    return found && Array.from(found, ({ key }) => key);
  }

  scanned(labels: Record<string, string>, prefix = '/pods/', from = prefix): string[] {
    const matches = ({ attributes }: EncodedObject) =>
      Object.entries(labels).every(([label, value]) => attributes.labels?.[label] === value);
    return [...this.state.range(prefix, from)].filter(matches).map(({ key }) => key);
  }

  /** Lists until an index answers. */
  async indexed(labels: Record<string, string>): Promise<void> {
    while (!this.found(labels)) await yieldEventLoop();
  }

  below(bound: number): number {
    this.random = (this.random * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((this.random / 2_147_483_648) * bound);
  }

  private change(key: string, current: EncodedObject | undefined): void {
    const previous = current ? this.state.set(key, current) : this.state.delete(key);
    if (previous || current) this.indexes.update(new CacheEvent(revisionOf(this.revision), key, previous, current, 0));
  }
}

const keyOf = (number: number) => `/pods/ns-${number % 7}/pod-${number}`;

function filled(objects = 1_000): World {
  const world = new World();
  for (let number = 0; number < objects; number++) world.put(keyOf(number), { app: `app-${number % apps}` });
  return world;
}

it('an index of a label returns the objects in key order, within a prefix and from a key on', async () => {
  const world = filled();
  const labels = { app: 'app-3' };
  await world.indexed(labels);
  expect(world.found(labels)).toHaveLength(10);
  expect(world.found(labels)).toEqual(world.scanned(labels));
  const [, second] = world.scanned(labels);
  expect(world.found(labels, '/pods/', `${second}\0`)).toEqual(world.scanned(labels).slice(2));
  const inNamespace = world.found(labels, '/pods/ns-2/');
  expect(inNamespace).toEqual(world.scanned(labels, '/pods/ns-2/'));
  expect(inNamespace!.length).toBeGreaterThan(0);
});

it('the first list by a label builds no index, and an index of no object answers with nothing', async () => {
  const world = filled();
  expect(world.found({ app: 'other' })).toBeUndefined();
  expect(world.size).toBe(0);
  await world.indexed({ app: 'other' });
  expect(world.found({ app: 'other' })).toEqual([]);
  expect(world.size).toBe(1);
});

it('an index of a label follows writes during its construction and later', async () => {
  const world = filled();
  const labels = { app: 'app-5' };
  const write = () => {
    const key = keyOf(world.below(1_500));
    const choice = world.below(10);
    if (choice === 0) world.delete(key);
    else if (choice === 1) world.put(key, undefined);
    else world.put(key, { app: `app-${world.below(apps)}` });
  };
  while (!world.found(labels)) {
    for (let count = 0; count < 10; count++) write();
    await yieldEventLoop();
  }
  expect(world.found(labels)).toEqual(world.scanned(labels));
  for (let step = 0; step < 3_000; step++) {
    write();
    if (step % 100 === 0) expect(world.found(labels)).toEqual(world.scanned(labels));
  }
});

it('of several labels the rarest decides', async () => {
  const world = filled();
  for (let number = 0; number < 30; number++) world.put(keyOf(number), { app: 'app-1', tier: `tier-${number % 2}` });
  await world.indexed({ app: 'app-1' });
  await world.indexed({ tier: 'tier-0' });
  expect(world.found({ app: 'app-1', tier: 'tier-0' })).toEqual(world.scanned({ tier: 'tier-0' }));
});

it('no index has few objects, or a label value that an eighth of the objects has', async () => {
  const few = filled(100);
  for (let list = 0; list < 8; list++) expect(few.found({ app: 'app-3' })).toBeUndefined();
  expect(few.size).toBe(0);

  const world = filled();
  for (let number = 0; number < 300; number++) world.put(keyOf(number), { app: 'common' });
  for (let list = 0; list < 100; list++) {
    expect(world.found({ app: 'common' })).toBeUndefined();
    await yieldEventLoop();
  }
  while (world.size > 0) await yieldEventLoop();

  await world.indexed({ app: 'app-3' });
  for (let number = 300; number < 600; number++) world.put(keyOf(number), { app: 'app-3' });
  expect(world.size).toBe(0);
  expect(world.found({ app: 'app-3' })).toBeUndefined();
});

it('the index that was not used for the longest time makes room for another', async () => {
  const world = filled();
  for (let number = 0; number < 16; number++) await world.indexed({ app: `app-${number}` });
  world.found({ app: 'app-0' });
  await world.indexed({ app: 'app-20' });
  expect(world.size).toBe(16);
  expect(world.found({ app: 'app-0' })).toEqual(world.scanned({ app: 'app-0' }));
  expect(world.found({ app: 'app-1' })).toBeUndefined();
});

it('cleared indexes do not answer, also those under construction', async () => {
  const world = filled();
  const labels = { app: 'app-3' };
  await world.indexed(labels);
  world.found({ app: 'app-4' });
  world.found({ app: 'app-4' });
  world.indexes.clear();
  expect(world.size).toBe(0);
  expect(world.found(labels)).toBeUndefined();
  for (let tick = 0; tick < 50; tick++) await yieldEventLoop();
  expect(world.size).toBe(0);
});
