import { revisionOf } from '../machinery/revision.js';
import { SortedMap } from '../std/sorted-map.js';
import { CacheEvent } from './cache-event.js';
import { EncodedObject } from './encoded-object.js';
import { FieldIndexes } from './field-indexes.js';

const nodes = 100;
const seed = Number(process.env['SEED'] ?? 7);

/** A resource and its indexes, updated as the cache does. */
class World {
  readonly state = new SortedMap<EncodedObject>();
  readonly indexes = new FieldIndexes();
  private revision = 0;
  private random = seed;

  put(key: string, node: string, corruption?: Error): void {
    const [, , namespace = '', name = ''] = key.split('/');
    const attributes = { namespace, name, labels: undefined, fields: { 'spec.nodeName': node } };
    this.change(key, new EncodedObject(key, revisionOf(++this.revision), Buffer.alloc(0), attributes, corruption));
  }

  delete(key: string): void {
    this.change(key, undefined);
  }

  /** The keys found by the index; undefined if it does not answer. */
  found(node: string, prefix = '/pods/', from = prefix): string[] | undefined {
    const equalities = [{ field: 'spec.nodeName', value: node }];
    return this.indexes.range(this.state, equalities, prefix, from)?.map(({ key }) => key);
  }

  scanned(node: string, prefix = '/pods/', from = prefix): string[] {
    const matches = (object: EncodedObject) => !object.corruption && object.attributes.fields['spec.nodeName'] === node;
    return [...this.state.range(prefix, from)].filter(matches).map(({ key }) => key);
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
  for (let number = 0; number < objects; number++) world.put(keyOf(number), `node-${number % nodes}`);
  return world;
}

it('an index returns the objects with the value in key order, within a prefix and from a key on', () => {
  const world = filled();
  expect(world.found('node-3')).toHaveLength(10);
  expect(world.found('node-3')).toEqual(world.scanned('node-3'));
  expect(world.found('node-3', '/pods/ns-2/')).toEqual(world.scanned('node-3', '/pods/ns-2/'));
  const [, second] = world.scanned('node-3');
  expect(world.found('node-3', '/pods/', `${second}\0`)).toEqual(world.scanned('node-3').slice(2));
  expect(world.found('node-unknown')).toEqual([]);
});

it('an index follows random writes, moves, deletions and unreadable values', () => {
  const world = filled();
  world.found('node-0');
  for (let step = 0; step < 5_000; step++) {
    const key = keyOf(world.below(1_500));
    const choice = world.below(10);
    if (choice === 0) world.delete(key);
    else if (choice === 1) world.put(key, '', new Error('unreadable'));
    else world.put(key, `node-${world.below(nodes)}`);
    if (step % 100 === 0) {
      const node = `node-${world.below(nodes)}`;
      expect(world.found(node) ?? world.scanned(node)).toEqual(world.scanned(node));
    }
  }
  for (let node = 0; node < nodes; node++) expect(world.found(`node-${node}`)).toEqual(world.scanned(`node-${node}`));
});

it('no index answers for few objects, for a value that most objects have, or for metadata', () => {
  expect(filled(100).found('node-3')).toBeUndefined();
  const world = filled();
  for (let number = 0; number < 1_000; number++) world.put(keyOf(number), 'node-3');
  expect(world.found('node-3')).toBeUndefined();
  const byName = [{ field: 'metadata.name', value: 'pod-1' }];
  expect(world.indexes.range(world.state, byName, '/pods/', '/pods/')).toBeUndefined();
});
