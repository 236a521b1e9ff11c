import { systemClock, type Clock } from '../std/clock.js';
import { collectGarbage } from '../std/collect-garbage.js';
import { defaultCacheLimits, type CacheLimits } from './cache-limits.js';
import { Compressor } from './compressed-block.js';
import { RenderingMemory } from './rendering-memory.js';
import type { Home, Resident, Slab } from './resident.js';

/**
 * Keeps the bytes of the cached objects of all resources outside the JavaScript heap, one after another in few large
 * slabs, since a Buffer for each object takes 300 bytes more and a place among those of malloc:
 *
 *   slab 1  | pod-1 | pod-2 | (gone) | pod-4 |     slab 2  | pod-5 | pod-2' |   free   |
 *
 * Bytes are never overwritten. If too many have gone, the residents of the slab with the most gaps move to the newest
 * one, a few with each addition; the memory of the old slab is released when nobody reads from it any more.
 *
 * If there are many, objects that nobody has read for one to two passes over all slabs leave memory: they are read again from
 * the store (ADR 077), or from a block with the compressed bytes of about five objects (ADR 080).
 *
 * The memory of slabs is released by the next collection of garbage. A process that does little has none by itself, so tidy()
 * begins one. Under load V8 begins one for each 64 MiB of new buffers, in vain while a store is loaded and nothing is dropped:
 * large slabs are shared memory, which V8 does not count, except those that take the place of dropped ones.
 */
export class ByteHome implements Home {
  readonly renderings = new RenderingMemory();
  private readonly slabs = new Set<Slab>();
  private newest: Slab | undefined;
  private emptying: Slab | undefined;
  private taken = 0;
  private live = 0;
  private additions = 0;
  private additionsAtTidy = 0;
  /** The number of additions before which no slab is chosen, since none was worth it. */
  private chooseAfter = 0;
  /** The slabs that a pass has yet to visit. Of the first one, only the objects before `passAt`. */
  private pass: Slab[] = [];
  private passAt = Infinity;
  private nextPassMs = 0;
  private visitsPerTidy = 0;
  private compressor: Compressor | undefined;
  /** Memory of the slabs that were dropped since the last collection of garbage, and of the last one. */
  private dropped = 0;
  private nextCollectionMs = 0;
  private droppedMemory: WeakRef<Buffer> | undefined;
  /** Memory of the slabs that were dropped, for which V8 has not counted new ones. */
  private uncounted = 0;

  constructor(
    private readonly limits: Pick<CacheLimits, 'warmBytes' | 'coldPassMs'> = defaultCacheLimits,
    private readonly clock: Clock = systemClock,
    private readonly allocate: Allocate = (bytes, isCounted) =>
      isCounted ? Buffer.allocUnsafeSlow(bytes) : Buffer.from(new SharedArrayBuffer(bytes)),
    private readonly collect: () => void = collectGarbage,
  ) {}

  /** Bytes of the objects, and of the slabs that are taken for them. */
  get size(): { readonly live: number; readonly taken: number } {
    return { live: this.live, taken: this.taken };
  }

  /** Copies the bytes of the object, unless it is large: those have memory of their own. */
  add(object: Resident): void {
    if (object.slot >= 0 || object.byteLength > residentBytesMax || object.byteLength === 0) return;
    this.place(object);
    this.additions++;
    if (this.additions < this.chooseAfter) return;
    if (this.emptying || this.gaps > Math.max(gapBytesMin, this.live * gapShareMax)) {
      this.move(movesPerAddition, gapShareMax / 2);
    }
  }

  /** Its bytes may be read as before, but no longer move. */
  remove(object: Resident): void {
    const { slab, slot } = object;
    if (!slab || slot < 0) return;
    const last = slab.residents.pop()!;
    if (last !== object) {
      slab.residents[slot] = last;
      last.slot = slot;
    }
    object.slot = -1;
    slab.live -= object.byteLength;
    this.live -= object.byteLength;
    if (slab.residents.length === 0) this.drop(slab);
  }

  /** Closes gaps while nothing is written, and drops what nobody reads. Called every few seconds. */
  tidy(nowMs: number): void {
    this.renderings.tick();
    this.dropCold(nowMs);
    this.compressor?.tidy();
    const isQuiet = this.additions - this.additionsAtTidy < quietAdditions;
    this.additionsAtTidy = this.additions;
    if (!isQuiet) return;
    if (this.gaps > Math.max(gapBytesMin, this.live * quietGapShare)) this.move(movesPerTidy, quietGapShare / 2);
    else this.collectDropped(nowMs);
  }

  /** Collects garbage if V8 has not done it since the last slab was dropped. */
  private collectDropped(nowMs: number): void {
    if (this.dropped < droppedBytesMin || nowMs < this.nextCollectionMs) return;
    if (this.droppedMemory?.deref()) {
      this.collect();
      this.nextCollectionMs = nowMs + collectionIntervalMs;
    }
    this.dropped = 0;
    this.droppedMemory = undefined;
  }

  private dropCold(nowMs: number): void {
    const { warmBytes, coldPassMs } = this.limits;
    if (this.live <= warmBytes) {
      this.pass = [];
      return;
    }
    if (this.pass.length === 0) {
      if (nowMs < this.nextPassMs) return;
      this.nextPassMs = nowMs + coldPassMs;
      this.pass = [...this.slabs];
      this.compressor?.clear();
      this.passAt = Infinity;
      const residents = this.pass.reduce((sum, slab) => sum + slab.residents.length, 0);
      const visits = Math.ceil((residents * tidyMsMax) / coldPassMs);
      this.visitsPerTidy = Math.min(Math.max(visits, visitsPerTidyMin), visitsPerTidyMax);
    }
    for (let left = this.visitsPerTidy; left > 0;) {
      const slab = this.pass[0];
      if (!slab) return;
      // Backwards, since one that leaves is replaced by the last one.
      const from = Math.min(this.passAt, slab.residents.length);
      const to = Math.max(0, from - left);
      const cold: Resident[] = [];
      for (let at = from - 1; at >= to; at--) {
        const object = slab.residents[at]!;
        if (object.leaveIfCold()) cold.push(object);
      }
      if (cold.length > 0) (this.compressor ??= new Compressor(this, this.clock)).add(slab, cold);
      left -= from - to + 1;
      this.passAt = to;
      if (to > 0) continue;
      this.pass.shift();
      this.passAt = Infinity;
    }
  }

  private get gaps(): number {
    return this.taken - this.live;
  }

  private place(object: Resident): void {
    const { byteLength } = object;
    let slab = this.newest;
    if (!slab || slab.taken + byteLength > slab.memory.length) {
      slab = { home: this, memory: this.newMemory(), residents: [], taken: 0, live: 0 };
      this.slabs.add(slab);
      this.newest = slab;
    }
    object.copyInto(slab.memory, slab.taken);
    object.slab = slab;
    object.slot = slab.residents.push(object) - 1;
    object.settle(slab, slab.taken);
    slab.taken += byteLength;
    slab.live += byteLength;
    this.taken += byteLength;
    this.live += byteLength;
  }

  private newMemory(): Buffer {
    const bytes = slabBytes(this.live);
    const isCounted = bytes < largeSlabBytes || this.uncounted > 0;
    if (isCounted) this.uncounted = Math.max(0, this.uncounted - bytes);
    return this.allocate(bytes, isCounted);
  }

  private move(count: number, gapShareMin: number): void {
    for (let moved = 0; moved < count; moved++) {
      const slab = (this.emptying ??= this.chooseEmptiest(gapShareMin));
      const object = slab?.residents.pop();
      if (!slab || !object) {
        this.chooseAfter = this.additions + additionsBetweenChoices;
        return;
      }
      slab.live -= object.byteLength;
      this.live -= object.byteLength;
      this.place(object);
      if (slab.residents.length === 0) this.drop(slab);
    }
  }

  /** Leaves out the slabs whose cold objects are about to leave. */
  private chooseEmptiest(gapShareMin: number): Slab | undefined {
    let emptiest: Slab | undefined;
    for (const slab of this.slabs) {
      const gaps = slab.taken - slab.live;
      if (gaps < slab.taken * gapShareMin || (slab === this.newest && gaps < gapBytesMin / 2)) continue;
      if (this.pass.includes(slab) || this.compressor?.isEmptying(slab)) continue;
      if (!emptiest || slab.live / slab.taken < emptiest.live / emptiest.taken) emptiest = slab;
    }
    if (emptiest && emptiest === this.newest) this.newest = undefined;
    return emptiest;
  }

  private drop(slab: Slab): void {
    if (slab === this.newest) this.newest = undefined;
    if (slab === this.emptying) this.emptying = undefined;
    if (!this.slabs.delete(slab)) return;
    this.taken -= slab.taken;
    this.droppedMemory = new WeakRef(slab.memory);
    this.dropped += slab.memory.length;
    this.uncounted += slab.memory.length;
  }
}

/** Returns memory of that size, which need not be cleared, and whether V8 counts it or not. */
type Allocate = (bytes: number, isCounted: boolean) => Buffer;

/** Returns the size of the next slab. The first ones grow with the data, for servers with many small stores. */
function slabBytes(liveBytes: number): number {
  if (liveBytes >= largeSlabsFrom) return largeSlabBytes;
  return Math.min(smallSlabBytes, Math.max(residentBytesMax, liveBytes));
}

/** Slabs of a store with little data. */
const smallSlabBytes = 1024 * 1024;
/** Beyond glibc's largest threshold (32 MiB), memory is given back to the system when it is freed. */
const largeSlabBytes = 33 * 1024 * 1024;
const largeSlabsFrom = 64 * 1024 * 1024;
const residentBytesMax = 128 * 1024;
/** Gaps are closed beyond this size, and beyond a share of the live bytes, which is lower while nothing is written. */
const gapBytesMin = 2 * 1024 * 1024;
const gapShareMax = 1 / 8;
const quietGapShare = 1 / 32;
/** More than 1 / gapShareMax, so that gaps are closed faster than they arise. */
const movesPerAddition = 12;
const movesPerTidy = 4_000;
const additionsBetweenChoices = 100;
const quietAdditions = 100;
/** Two large slabs. */
const droppedBytesMin = 64 * 1024 * 1024;
const collectionIntervalMs = 30_000;
/** 8,000 visits take about 1 ms. A pass over more than 200,000 objects takes longer than coldPassMs. */
const visitsPerTidyMin = 8_000;
const visitsPerTidyMax = 64_000;
/** More than the time between two calls of tidy(), so that a pass over fewer objects is over within coldPassMs. */
const tidyMsMax = 6_000;
