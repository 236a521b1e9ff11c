import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Clock, Timer } from '../std/clock.js';
import { copyBytes } from '../std/copy-bytes.js';
import { PackedBytes, type Packed, type Slab } from './packed-bytes.js';
import { DeferredBytes, type Home, type ObjectSlab, type Resident } from './resident.js';

/** The bytes of one object in a block. */
export class CompressedBytes extends DeferredBytes {
  constructor(
    length: number,
    readonly block: CompressedBlock,
    readonly start: number,
    private readonly position: number,
  ) {
    super(length);
    this.home = block.compressor.home;
  }

  override read(): Buffer {
    return this.of(this.block.read(this.position));
  }

  of(block: Buffer): Buffer {
    return block.subarray(this.start, this.start + this.length);
  }

  override forget(): void {
    this.block.remove(this.position, this.length);
  }
}

/**
 * The compressed bytes of about five objects: one object alone repeats little. The first read in a while brings nobody back
 * into memory. If it was followed by one of the same object, that object returns; if by one of another object, which is
 * probably part of a list, all return. Their block is kept, so that they can leave again without another compression.
 */
class CompressedBlock implements Packed {
  readonly byteLength: number;
  slab: Slab | undefined = undefined;
  slot = -1;
  /** The compressed bytes, unless they are in a slab. */
  private own: Buffer | undefined;
  private start = 0;
  private readonly members: (Resident | undefined)[] = [];
  private live = 0;
  private lastReadMs = -Infinity;
  private lastPosition = -1;

  constructor(
    readonly compressor: Compressor,
    compressed: Buffer,
    /** Bytes of all objects, before compression. */
    private readonly length: number,
  ) {
    this.own = compressed;
    this.byteLength = compressed.length;
  }

  /** Moves the objects into the block. Their bytes lie in it one after the other. */
  fill(objects: readonly Resident[]): void {
    let start = 0;
    for (const object of objects) {
      object.leaveFor(new CompressedBytes(object.byteLength, this, start, this.members.length));
      this.members.push(object);
      start += object.byteLength;
    }
    this.live = start;
  }

  copyInto(memory: Buffer, at: number): void {
    copyBytes(this.bytes, memory, at);
  }

  settle(slab: Slab, start: number): void {
    this.slab = slab;
    this.start = start;
    this.own = undefined;
  }

  private get bytes(): Buffer {
    const { slab, start } = this;
    return slab ? slab.memory.subarray(start, start + this.byteLength) : this.own!;
  }

  /** Returns the bytes of all objects, for a reader of the one at `position`. */
  read(position: number): Buffer {
    const all = this.compressor.expanded(this);
    const nowMs = this.compressor.clock.monotonicMs();
    if (nowMs - this.lastReadMs < togetherMs) {
      if (position === this.lastPosition) this.members[position]?.returnFrom(all);
      else for (const member of this.members) member?.returnFrom(all);
    }
    this.lastReadMs = nowMs;
    this.lastPosition = position;
    return all;
  }

  remove(position: number, byteLength: number): void {
    if (!this.members[position]) return;
    this.members[position] = undefined;
    this.live -= byteLength;
    if (this.live === 0) this.compressor.remove(this);
    else if (this.live < this.length * liveShareMin) this.compressor.sparse.add(this);
  }

  /** Brings all objects back into memory, so that the block can go. */
  dissolve(): void {
    const all = this.compressor.expanded(this);
    for (const member of this.members) member?.leaveBlock(all);
    this.members.length = 0;
    this.live = 0;
    this.compressor.remove(this);
  }

  expand(): Buffer {
    // With room for one byte more, since zlib allocates another chunk when one is full.
    return inflateRawSync(this.bytes, { chunkSize: Math.max(constants.Z_MIN_CHUNK, this.length + 1) });
  }
}

/** Compresses cold objects of a home, for a millisecond at a time. */
export class Compressor {
  private readonly blocks = new PackedBytes<CompressedBlock>(undefined);
  private waiting: { readonly slab: ObjectSlab; readonly objects: Resident[] }[] = [];
  private timer: Timer | undefined;
  /** Blocks with few objects, which are to move back into memory. */
  readonly sparse = new Set<CompressedBlock>();
  /** The block that was read last, whose next object a list reads next. */
  private last: { readonly block: CompressedBlock; readonly bytes: Buffer } | undefined;
  /** Memory for the bytes of a block until they are compressed, one after the other. */
  private content = Buffer.alloc(0);

  constructor(
    readonly home: Home,
    readonly clock: Clock,
  ) {}

  /** Begins to compress objects of the slab, unless they are read before their turn. */
  add(slab: ObjectSlab, objects: Resident[]): void {
    this.waiting.push({ slab, objects });
    this.timer ??= this.afterPause();
  }

  /** True if objects of the slab wait, which will leave it. */
  isEmptying(slab: ObjectSlab): boolean {
    return this.waiting.some((it) => it.slab === slab);
  }

  /** Forgets those that wait. */
  clear(): void {
    this.waiting = [];
  }

  expanded(block: CompressedBlock): Buffer {
    if (this.last?.block !== block) this.last = { block, bytes: block.expand() };
    return this.last.bytes;
  }

  /** Forgets a block without objects. Readers of objects that were replaced may still have it. */
  remove(block: CompressedBlock): void {
    this.sparse.delete(block);
    this.blocks.remove(block);
  }

  /** Called every few seconds. */
  tidy(nowMs: number): void {
    this.last = undefined;
    this.blocks.tidy(nowMs);
    if (this.sparse.size > 0) this.timer ??= this.afterPause();
  }

  private afterPause(): Timer {
    return this.clock.after(pauseMs, () => this.workForSlice());
  }

  private workForSlice(): void {
    const untilMs = this.clock.monotonicMs() + sliceMs;
    const isDone = () => this.waiting.length === 0 && this.sparse.size === 0;
    try {
      while (!isDone() && this.clock.monotonicMs() < untilMs) {
        if (this.waiting.length > 0) this.compressBlock();
        else this.dissolveBlock();
      }
    } catch (error) {
      // The objects stay as they are; the next pass adds those that wait again.
      this.waiting = [];
      if (!isLackOfMemory(error)) throw error;
    } finally {
      this.timer = isDone() ? undefined : this.afterPause();
    }
  }

  private dissolveBlock(): void {
    for (const block of this.sparse) {
      // Also if it fails, so that it is not tried again at once.
      this.sparse.delete(block);
      return block.dissolve();
    }
  }

  private compressBlock(): void {
    const objects = this.take();
    if (objects.length === 0) return;
    const length = objects.reduce((sum, { byteLength }) => sum + byteLength, 0);
    if (length > this.content.length) this.content = Buffer.allocUnsafeSlow(length);
    let end = 0;
    for (const object of objects) {
      object.copyInto(this.content, end);
      end += object.byteLength;
    }
    // zlib's usual room is several times what objects need. V8 collects garbage the sooner, the more new buffers there are.
    const chunkSize = Math.max(constants.Z_MIN_CHUNK, Math.ceil(length / 4));
    const bytes = deflateRawSync(this.content.subarray(0, length), { level: constants.Z_BEST_SPEED, chunkSize });
    const block = new CompressedBlock(this, bytes, length);
    block.fill(objects);
    // A block keeps its own buffer if there is no memory for another slab.
    this.blocks.add(block);
  }

  private take(): Resident[] {
    const objects: Resident[] = [];
    for (let bytes = 0; bytes < blockBytesMin;) {
      const last = this.waiting.at(-1);
      if (!last) break;
      const object = last.objects.pop();
      if (!object) this.waiting.pop();
      else if (object.isCold) {
        objects.push(object);
        bytes += object.byteLength;
      }
    }
    return objects;
  }
}

/** Larger blocks would be smaller together, but a read of one object expands its whole block. */
const blockBytesMin = 16 * 1024;
const liveShareMin = 1 / 2;
/**
 * The time in which a list that sends objects in another order than that of their creation comes back to a block. Writes of
 * objects chosen at random are further apart if there are many.
 */
const togetherMs = 5_000;
/** A block takes about 20 µs: the 20,000 blocks of 100,000 Pods take 0.4 s, within 2 s. */
const sliceMs = 1;
const pauseMs = 4;

const codesOfLackOfMemory: readonly unknown[] = [
  'ERR_MEMORY_ALLOCATION_FAILED',
  'ERR_ZLIB_INITIALIZATION_FAILED',
  'Z_MEM_ERROR',
];

/** True for the errors of Buffer and zlib, and for V8's, which has no code. */
function isLackOfMemory(error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return codesOfLackOfMemory.includes(code) || message === 'Array buffer allocation failed';
}
