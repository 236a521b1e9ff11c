import { collectGarbage } from '../std/collect-garbage.js';

/** Bytes that are packed with those of others. */
export interface Packed {
  readonly byteLength: number;
  /** The position in `slab.residents`; -1 if the bytes are not packed, or will not move any more. */
  slot: number;
  slab: Slab | undefined;
  copyInto(memory: Buffer, at: number): void;
  /** Called with the place of the bytes, at first and whenever they were moved. */
  settle(slab: Slab, start: number): void;
}

/** One allocation for the bytes of many. */
export interface Slab<P extends Packed = Packed, Home = unknown> {
  readonly home: Home;
  readonly memory: Buffer;
  readonly residents: P[];
  /** Bytes from the start that are taken, and those of them that residents have. */
  taken: number;
  live: number;
}

/** Returns memory of that size, which need not be cleared, and whether V8 counts it or not. */
export type Allocate = (bytes: number, isCounted: boolean) => Buffer;

interface PackedBytesOptions<P extends Packed, Home> {
  readonly allocate?: Allocate | undefined;
  readonly collect?: (() => void) | undefined;
  /** True for slabs whose residents are about to leave, which are not emptied by moving them. */
  readonly isLeaving?: (slab: Slab<P, Home>) => boolean;
}

/**
 * Keeps bytes outside the JavaScript heap, one after another in few large slabs, since a Buffer for each takes 300 bytes more,
 * a place among those of malloc, and time in each collection of garbage:
 *
 *   slab 1  | pod-1 | pod-2 | (gone) | pod-4 |     slab 2  | pod-5 | pod-2' |   free   |
 *
 * Bytes are never overwritten. If too many have gone, the residents of the slab with the most gaps move to the newest
 * one, a few with each addition; the memory of the old slab is released when nobody reads from it any more.
 *
 * The memory of slabs is released by the next collection of garbage. A process that does little has none by itself, so tidy()
 * begins one. Under load V8 begins one for each 64 MiB of new buffers, in vain while a store is loaded and nothing is dropped:
 * large slabs are shared memory, which V8 does not count, except those that take the place of dropped ones.
 */
export class PackedBytes<P extends Packed, Home = unknown> {
  private readonly slabs = new Set<Slab<P, Home>>();
  private readonly allocate: Allocate;
  private readonly collect: () => void;
  private readonly isLeaving: (slab: Slab<P, Home>) => boolean;
  private newest: Slab<P, Home> | undefined;
  private emptying: Slab<P, Home> | undefined;
  private taken = 0;
  private live = 0;
  private additions = 0;
  private additionsAtTidy = 0;
  /** The number of additions before which no slab is chosen, since none was worth it. */
  private chooseAfter = 0;
  /** Memory of the slabs that were dropped since the last collection of garbage, and of the last one. */
  private dropped = 0;
  private nextCollectionMs = 0;
  private droppedMemory: WeakRef<Buffer> | undefined;
  /** Memory of the slabs that were dropped, for which V8 has not counted new ones. */
  private uncounted = 0;

  constructor(
    /** The home that slabs name. */
    private readonly home: Home,
    { allocate = allocateSlab, collect = collectGarbage, isLeaving = () => false }: PackedBytesOptions<P, Home> = {},
  ) {
    this.allocate = allocate;
    this.collect = collect;
    this.isLeaving = isLeaving;
  }

  /** Bytes of the residents, and of the slabs that are taken for them. */
  get size(): { readonly live: number; readonly taken: number } {
    return { live: this.live, taken: this.taken };
  }

  allSlabs(): Slab<P, Home>[] {
    return [...this.slabs];
  }

  /** Copies the bytes, unless they are many: those have memory of their own. */
  add(resident: P): void {
    if (resident.slot >= 0 || resident.byteLength > residentBytesMax || resident.byteLength === 0) return;
    this.place(resident);
    this.additions++;
    if (this.additions < this.chooseAfter) return;
    if (this.emptying || this.gaps > Math.max(gapBytesMin, this.live * gapShareMax)) {
      this.move(movesPerAddition, gapShareMax / 2);
    }
  }

  /** Its bytes may be read as before, but no longer move. */
  remove(resident: P): void {
    const { slot } = resident;
    const slab = resident.slab as Slab<P, Home> | undefined;
    if (!slab || slot < 0) return;
    const last = slab.residents.pop()!;
    if (last !== resident) {
      slab.residents[slot] = last;
      last.slot = slot;
    }
    resident.slot = -1;
    slab.live -= resident.byteLength;
    this.live -= resident.byteLength;
    if (slab.residents.length === 0) this.drop(slab);
  }

  /** Closes gaps while nothing is added, and releases what nobody reads. Called every few seconds. */
  tidy(nowMs: number): void {
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

  private get gaps(): number {
    return this.taken - this.live;
  }

  private place(resident: P): void {
    const { byteLength } = resident;
    const slab = this.slabWithRoom(byteLength);
    resident.copyInto(slab.memory, slab.taken);
    resident.slab = slab;
    resident.slot = slab.residents.push(resident) - 1;
    resident.settle(slab, slab.taken);
    slab.taken += byteLength;
    slab.live += byteLength;
    this.taken += byteLength;
    this.live += byteLength;
  }

  /** Throws if there is no memory for another slab. */
  private slabWithRoom(byteLength: number): Slab<P, Home> {
    const { newest } = this;
    if (newest && newest.taken + byteLength <= newest.memory.length) return newest;
    const slab = { home: this.home, memory: this.newMemory(), residents: [], taken: 0, live: 0 };
    this.slabs.add(slab);
    this.newest = slab;
    return slab;
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
      const resident = slab?.residents.at(-1);
      if (!slab || !resident) {
        this.chooseAfter = this.additions + additionsBetweenChoices;
        return;
      }
      // Before anything changes, since it may fail.
      this.slabWithRoom(resident.byteLength);
      slab.residents.pop();
      slab.live -= resident.byteLength;
      this.live -= resident.byteLength;
      this.place(resident);
      if (slab.residents.length === 0) this.drop(slab);
    }
  }

  private chooseEmptiest(gapShareMin: number): Slab<P, Home> | undefined {
    let emptiest: Slab<P, Home> | undefined;
    for (const slab of this.slabs) {
      const gaps = slab.taken - slab.live;
      if (gaps < slab.taken * gapShareMin || (slab === this.newest && gaps < gapBytesMin / 2)) continue;
      if (this.isLeaving(slab)) continue;
      if (!emptiest || slab.live / slab.taken < emptiest.live / emptiest.taken) emptiest = slab;
    }
    if (emptiest && emptiest === this.newest) this.newest = undefined;
    return emptiest;
  }

  private drop(slab: Slab<P, Home>): void {
    if (slab === this.newest) this.newest = undefined;
    if (slab === this.emptying) this.emptying = undefined;
    if (!this.slabs.delete(slab)) return;
    this.taken -= slab.taken;
    this.droppedMemory = new WeakRef(slab.memory);
    this.dropped += slab.memory.length;
    this.uncounted += slab.memory.length;
  }
}

function allocateSlab(bytes: number, isCounted: boolean): Buffer {
  return isCounted ? Buffer.allocUnsafeSlow(bytes) : Buffer.from(new SharedArrayBuffer(bytes));
}

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
