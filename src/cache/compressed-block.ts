import { promisify } from 'node:util';
import { constants, deflateRaw, inflateRawSync } from 'node:zlib';
import { unpooled } from '../std/unpooled.js';
import type { ByteHome } from './byte-home.js';
import { DeferredBytes } from './deferred-bytes.js';

const deflate = promisify(deflateRaw);

/** An object whose bytes can be compressed with those of others. */
export interface Compressible {
  readonly byteLength: number;
  copyInto(memory: Buffer, at: number): void;
  /** Leaves memory for a block. Returns false if it stays, since somebody has read or replaced it meanwhile. */
  leaveFor(compressed: CompressedBytes): boolean;
  /** Takes its bytes back into memory from those of its block. */
  returnFrom(block: Buffer): void;
  /** Takes its bytes back, and leaves the block for good. */
  leaveBlock(block: Buffer): void;
}

/** The bytes of one object in a block. */
export class CompressedBytes extends DeferredBytes {
  constructor(
    length: number,
    readonly block: CompressedBlock,
    readonly start: number,
    private readonly position: number,
  ) {
    super(length);
    this.home = block.home;
  }

  override read(): Buffer {
    return this.of(this.block.read());
  }

  of(block: Buffer): Buffer {
    return block.subarray(this.start, this.start + this.length);
  }

  override forget(): void {
    this.block.remove(this.position, this.length);
  }
}

/**
 * The compressed bytes of about twenty objects: one object alone repeats little. A read of one of them brings all back into
 * memory, so that a list expands each block once. Their block is kept, so that they can leave again without another
 * compression.
 */
export class CompressedBlock {
  private readonly members: (Compressible | undefined)[] = [];
  private live = 0;

  private constructor(
    readonly home: ByteHome,
    private readonly compressed: { readonly bytes: Buffer; readonly length: number },
  ) {}

  /** Moves the objects into a block. Their bytes lie in it one after the other. */
  static fill(home: ByteHome, compressed: CompressedBlock['compressed'], objects: readonly Compressible[]): void {
    const block = new CompressedBlock(home, compressed);
    let start = 0;
    for (const object of objects) {
      const compressed = new CompressedBytes(object.byteLength, block, start, block.members.length);
      if (object.leaveFor(compressed)) {
        block.members.push(object);
        block.live += object.byteLength;
      }
      start += object.byteLength;
    }
    block.reportIfSparse();
  }

  /** Returns the bytes of all objects. Those that were not in memory return to it. */
  read(): Buffer {
    const all = this.expand();
    for (const member of this.members) member?.returnFrom(all);
    return all;
  }

  remove(position: number, byteLength: number): void {
    if (!this.members[position]) return;
    this.members[position] = undefined;
    this.live -= byteLength;
    this.reportIfSparse();
  }

  /** Brings all objects back into memory, so that the block can go. */
  dissolve(): void {
    if (!this.members.some(Boolean)) return;
    const all = this.expand();
    for (const member of this.members) member?.leaveBlock(all);
    this.members.length = 0;
    this.live = 0;
  }

  private expand(): Buffer {
    const { bytes, length } = this.compressed;
    return inflateRawSync(bytes, { chunkSize: Math.max(constants.Z_MIN_CHUNK, length) });
  }

  private reportIfSparse(): void {
    if (this.live < this.compressed.length * liveShareMin) this.home.addSparse(this);
  }
}

/** Compresses objects of a home, a block at a time, on a thread of Node's pool. */
export class Compressor {
  private waiting: Compressible[] = [];
  private isRunning = false;

  constructor(private readonly home: ByteHome) {}

  add(object: Compressible): void {
    this.waiting.push(object);
    if (!this.isRunning) void this.run();
  }

  /** Forgets those that wait. */
  clear(): void {
    this.waiting = [];
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    // Waits for the objects that are added in the same turn of the event loop.
    await Promise.resolve();
    try {
      while (this.waiting.length > 0) await this.compressBlock();
    } catch {
      // The objects stay in memory. The next pass adds them again.
      this.waiting = [];
    }
    this.isRunning = false;
  }

  private async compressBlock(): Promise<void> {
    const objects = this.take();
    const all = Buffer.allocUnsafeSlow(objects.reduce((sum, { byteLength }) => sum + byteLength, 0));
    let end = 0;
    for (const object of objects) {
      object.copyInto(all, end);
      end += object.byteLength;
    }
    const bytes = await deflate(all, { level: constants.Z_BEST_SPEED });
    CompressedBlock.fill(this.home, { bytes: unpooled(bytes, 1), length: all.length }, objects);
  }

  private take(): Compressible[] {
    const objects: Compressible[] = [];
    for (let bytes = 0; bytes < blockBytesMin;) {
      const object = this.waiting.pop();
      if (!object) break;
      objects.push(object);
      bytes += object.byteLength;
    }
    return objects;
  }
}

/** Beyond the 32 KiB that deflate remembers, larger blocks would hardly be smaller. */
const blockBytesMin = 64 * 1024;
const liveShareMin = 1 / 2;
