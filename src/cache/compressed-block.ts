import { promisify } from 'node:util';
import { constants, deflateRaw, inflateRawSync } from 'node:zlib';
import { unpooled } from '../std/unpooled.js';
import { DeferredBytes, type Home, type Resident } from './resident.js';

const deflate = promisify(deflateRaw);

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
class CompressedBlock {
  private readonly members: (Resident | undefined)[] = [];
  private live = 0;

  private constructor(
    readonly compressor: Compressor,
    private readonly compressed: { readonly bytes: Buffer; readonly length: number },
  ) {}

  /** Moves the objects into a block. Their bytes lie in it one after the other. */
  static fill(compressor: Compressor, compressed: CompressedBlock['compressed'], objects: readonly Resident[]): void {
    const block = new CompressedBlock(compressor, compressed);
    let start = 0;
    for (const object of objects) {
      const own = new CompressedBytes(object.byteLength, block, start, block.members.length);
      if (object.leaveFor(own)) {
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
    if (this.live < this.compressed.length * liveShareMin) this.compressor.sparse.add(this);
  }
}

/** Compresses objects of a home, a block at a time, on a thread of Node's pool. */
export class Compressor {
  private waiting: Resident[] = [];
  private isRunning = false;
  /** Blocks with few objects, which are to move back into memory. */
  readonly sparse = new Set<CompressedBlock>();

  constructor(readonly home: Home) {}

  add(object: Resident): void {
    this.waiting.push(object);
    if (!this.isRunning) void this.run();
  }

  /** Forgets those that wait. */
  clear(): void {
    this.waiting = [];
  }

  /** Called every few seconds. */
  tidy(): void {
    let left = blocksPerTidy;
    for (const block of this.sparse) {
      if (left-- === 0) return;
      this.sparse.delete(block);
      block.dissolve();
    }
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
    CompressedBlock.fill(this, { bytes: unpooled(bytes, 1), length: all.length }, objects);
  }

  private take(): Resident[] {
    const objects: Resident[] = [];
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
const blocksPerTidy = 20;
