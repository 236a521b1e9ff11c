import type { Clock } from '../std/clock.js';
import { LoopYieldTimer } from '../std/loop-yield-timer.js';
import { SortedMap, type SortedView } from '../std/sorted-map.js';
import type { CacheEvent } from './cache-event.js';
import type { EncodedObject } from './encoded-object.js';
import type { LabelEquality } from './snapshot.js';

/** A list of fewer objects is scanned without an index. */
const indexedObjectsMin = 512;
/** A label value that more of the objects have is not indexed. */
const indexedShareMax = 1 / 8;
/** Each write updates all indexes of its resource. The one that was not used for the longest time makes room. */
const labelIndexesMax = 16;
/** Label values that were asked for and have no index. */
const askedMax = 64;
/** Maximum time that building an index holds the event loop before it yields. */
const sliceMs = 2;

/**
 * Indexes of one resource by label and value, for lists that repeat: informers and controllers ask for the same few
 * selectors. The second list by a label value begins its index beside its own scan; later events update it.
 */
export class LabelIndexes {
  /** By termOf(), the one that was used last at the end. */
  private readonly indexes = new Map<string, LabelIndex>();
  /** Number of lists that have asked for a label value without an index. */
  private readonly asked = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  update(event: CacheEvent): void {
    for (const [term, index] of this.indexes) {
      index.update(event);
      if (index.isTooLarge) this.drop(term);
    }
  }

  clear(): void {
    for (const term of this.indexes.keys()) this.drop(term);
    this.asked.clear();
  }

  /**
   * Returns a superset of the objects in `state` with these labels, in key order; undefined if no index has them, or
   * scanning is cheaper. `state` must be the current one, and must not change.
   */
  range(
    state: SortedView<EncodedObject>,
    equalities: readonly LabelEquality[],
    prefix: string,
    from: string,
  ): Iterable<EncodedObject> | undefined {
    if (state.size < indexedObjectsMin) return undefined;
    let fewest = state.count(prefix, from) * indexedShareMax;
    let narrowest: SortedView<EncodedObject> | undefined;
    for (const equality of equalities.slice(0, labelIndexesMax)) {
      const objects = this.indexOf(equality, state);
      const count = objects?.count(prefix, from) ?? Infinity;
      if (count > fewest) continue;
      fewest = count;
      narrowest = objects;
    }
    return narrowest?.range(prefix, from);
  }

  private indexOf(equality: LabelEquality, state: SortedView<EncodedObject>): SortedView<EncodedObject> | undefined {
    const term = termOf(equality);
    const index = this.indexes.get(term);
    if (!index) {
      if (this.isWanted(term)) this.build(term, equality, state);
      return undefined;
    }
    this.indexes.delete(term);
    this.indexes.set(term, index);
    return index.objects;
  }

  /** True for the 2nd, 4th, 8th … list: an index that became too large is not built again by each list. */
  private isWanted(term: string): boolean {
    const count = (this.asked.get(term) ?? 0) + 1;
    this.asked.delete(term);
    this.asked.set(term, count);
    if (this.asked.size > askedMax) this.asked.delete(oldestOf(this.asked));
    return count > 1 && Number.isInteger(Math.log2(count));
  }

  private build(term: string, equality: LabelEquality, state: SortedView<EncodedObject>): void {
    if (this.indexes.size >= labelIndexesMax) this.drop(oldestOf(this.indexes));
    const index = new LabelIndex(equality, state.size * indexedShareMax);
    this.indexes.set(term, index);
    void index.fill(state, this.clock).then(() => {
      if (index.isTooLarge && this.indexes.get(term) === index) this.drop(term);
    });
  }

  private drop(term: string): void {
    this.indexes.get(term)?.close();
    this.indexes.delete(term);
  }
}

const termOf = ({ label, value }: LabelEquality): string => `${label}=${value}`;

const oldestOf = (map: ReadonlyMap<string, unknown>): string => map.keys().next().value!;

/** The readable objects of one resource with one value of a label. */
class LabelIndex {
  private readonly found = new SortedMap<EncodedObject>();
  /** Events since fill() has begun; undefined once the index is complete. */
  private missed: CacheEvent[] | undefined = [];
  private isClosed = false;

  constructor(
    private readonly equality: LabelEquality,
    private readonly objectsMax: number,
  ) {}

  get isTooLarge(): boolean {
    return this.found.size > this.objectsMax;
  }

  /** The objects in key order, which later events do not change; undefined until the index is complete. */
  get objects(): SortedView<EncodedObject> | undefined {
    return this.missed ? undefined : this.found.snapshot();
  }

  /** Adds the objects of a state, which does not change, and then the events since. Other requests run in between. */
  async fill(state: SortedView<EncodedObject>, clock: Clock): Promise<void> {
    const timer = new LoopYieldTimer(clock, sliceMs);
    for (const object of state.range('')) {
      if (this.has(object)) this.found.set(object.key, object);
      if (timer.isDue()) await timer.yield();
      if (this.isClosed || this.isTooLarge) return;
    }
    const missed = this.missed ?? [];
    this.missed = undefined;
    for (const event of missed) this.update(event);
  }

  update(event: CacheEvent): void {
    if (this.missed) return void this.missed.push(event);
    const { key, previous, current } = event;
    if (this.has(current)) this.found.set(key, current);
    else if (this.has(previous)) this.found.delete(key);
  }

  close(): void {
    this.isClosed = true;
    this.missed = undefined;
  }

  private has(object: EncodedObject | undefined): object is EncodedObject {
    if (!object || object.corruption) return false;
    const { labels } = object.attributes;
    const { label, value } = this.equality;
    return labels !== undefined && labels[label] === value;
  }
}
