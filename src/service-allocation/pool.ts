import type { Rng } from '../std/rng.js';

/**
 * A bitmap of the allocated offsets of a range. Random allocation prefers the upper band, so that the lower one stays free
 * for values that clients request (KEP-3070, KEP-3668):
 *
 *   0              split             size
 *   |  random last  |  random first  |
 */
export class Pool {
  private readonly words: Uint32Array;

  constructor(
    readonly size: number,
    readonly split: number,
    private readonly rng: Pick<Rng, 'below'>,
  ) {
    this.words = new Uint32Array(Math.ceil(size / 32));
  }

  take(offset: number): void {
    if (offset < this.size) this.words[offset >>> 5]! |= 1 << (offset & 31);
  }

  free(offset: number): void {
    if (offset < this.size) this.words[offset >>> 5]! &= ~(1 << (offset & 31));
  }

  isTaken(offset: number): boolean {
    return offset < this.size && (this.words[offset >>> 5]! & (1 << (offset & 31))) !== 0;
  }

  clear(): void {
    this.words.fill(0);
  }

  /** Returns a random free offset for which `usable` is true; undefined if there is none. */
  pick(usable: (offset: number) => boolean = () => true): number | undefined {
    return this.pickBetween(this.split, this.size, usable) ?? this.pickBetween(0, this.split, usable);
  }

  private pickBetween(from: number, to: number, usable: (offset: number) => boolean): number | undefined {
    if (from >= to) return undefined;
    const start = from + this.rng.below(to - from);
    return this.firstFree(start, to, usable) ?? this.firstFree(from, start, usable);
  }

  private firstFree(from: number, to: number, usable: (offset: number) => boolean): number | undefined {
    for (let offset = from; offset < to; offset++) {
      // Skips a word without a free bit.
      if ((offset & 31) === 0 && this.words[offset >>> 5] === 0xffff_ffff) offset += 31;
      else if (!this.isTaken(offset) && usable(offset)) return offset;
    }
    return undefined;
  }
}

interface Band {
  readonly sizeMin: number;
  readonly sizeMax: number;
  /** The size of the lower band is `size / divisor`, within the bounds. */
  readonly divisor: number;
}

/** `min(max(16, size / 16), 256)`. A range of at most 16 has no lower band. */
export const addressBand: Band = { sizeMin: 16, sizeMax: 256, divisor: 16 };
export const nodePortBand: Band = { sizeMin: 16, sizeMax: 128, divisor: 32 };

export function bandSplit(size: number, { sizeMin, sizeMax, divisor }: Band): number {
  if (size <= sizeMin) return 0;
  return Math.min(Math.max(sizeMin, Math.floor(size / divisor)), sizeMax);
}
