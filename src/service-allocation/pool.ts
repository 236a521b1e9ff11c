import type { Rng } from '../std/rng.js';

/**
 * Which places of a range are taken, a bit each. What is asked for by name may be anywhere; what is given out by chance
 * is taken from the upper band first, so that the lower one stays for those who ask (KEP-3070, KEP-3668):
 *
 *   0          split                              size
 *   |  asked for  |  given out by chance           |
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

  take(place: number): void {
    if (place < this.size) this.words[place >>> 5]! |= 1 << (place & 31);
  }

  free(place: number): void {
    if (place < this.size) this.words[place >>> 5]! &= ~(1 << (place & 31));
  }

  isTaken(place: number): boolean {
    return place < this.size && (this.words[place >>> 5]! & (1 << (place & 31))) !== 0;
  }

  clear(): void {
    this.words.fill(0);
  }

  /** A free place that is `usable`; undefined when there is none. */
  pick(usable: (place: number) => boolean = () => true): number | undefined {
    return this.pickBetween(this.split, this.size, usable) ?? this.pickBetween(0, this.split, usable);
  }

  private pickBetween(from: number, to: number, usable: (place: number) => boolean): number | undefined {
    if (from >= to) return undefined;
    const start = from + this.rng.below(to - from);
    return this.firstFree(start, to, usable) ?? this.firstFree(from, start, usable);
  }

  private firstFree(from: number, to: number, usable: (place: number) => boolean): number | undefined {
    for (let place = from; place < to; place++) {
      // A word without a free place is passed over as a whole.
      if ((place & 31) === 0 && this.words[place >>> 5] === 0xffff_ffff) place += 31;
      else if (!this.isTaken(place) && usable(place)) return place;
    }
    return undefined;
  }
}

interface Band {
  readonly placesMin: number;
  readonly placesMax: number;
  /** The lower band is one place in so many. */
  readonly share: number;
}

/** `min(max(16, size / 16), 256)`; a range that small has but one band. */
export const addressBand: Band = { placesMin: 16, placesMax: 256, share: 16 };
export const nodePortBand: Band = { placesMin: 16, placesMax: 128, share: 32 };

export function bandSplit(size: number, { placesMin, placesMax, share }: Band): number {
  if (size <= placesMin) return 0;
  return Math.min(Math.max(placesMin, Math.floor(size / share)), placesMax);
}
