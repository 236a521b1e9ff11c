import type { Revision } from '../machinery/revision.js';
import type { Packed, Slab } from './packed-bytes.js';
import type { RenderingMemory } from './rendering-memory.js';

/** An object whose bytes a home keeps. */
export interface Resident extends Packed {
  /**
   * Removes itself from the home if its bytes were not read since the last call, and can be read elsewhere. Returns true if
   * they cannot.
   */
  leaveIfCold(): boolean;
  /** True if nobody has read the bytes since leaveIfCold(), the home still has them, and they cannot be read elsewhere. */
  readonly isCold: boolean;
  /** Leaves memory for a block. */
  leaveFor(compressed: DeferredBytes): void;
  /** Takes its bytes back into memory from those of its block. */
  returnFrom(block: Buffer): void;
  /** Takes its bytes back, and leaves the block for good. */
  leaveBlock(block: Buffer): void;
}

export type ObjectSlab = Slab<Resident, Home>;

export interface Home {
  readonly renderings: RenderingMemory;
  add(object: Resident): void;
  remove(object: Resident): void;
}

/** Bytes of an object that are not in memory as they are: they are read when somebody needs them. */
export abstract class DeferredBytes {
  /** The home of the bytes once they are read. */
  home: Home | undefined = undefined;

  /** `length` is the length of the JSON with the resourceVersion. */
  constructor(readonly length: number) {}

  /** Returns the JSON with the resourceVersion, whose memory may be that of others too. Throws StorageErrors. */
  abstract read(key: string, revision: Revision): Buffer;

  /** Called when no cache or store keeps the object any more. Readers may still have it. */
  abstract forget(): void;
}
