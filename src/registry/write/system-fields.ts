import type { Clock } from '../../std/clock.js';
import type { Rng } from '../../std/rng.js';

/** The last second of the year 9999: years have four digits. */
export const objectTimeMaxMs = Date.UTC(9999, 11, 31, 23, 59, 59);

/** Formats a time for metadata: UTC, in whole seconds. Times after objectTimeMaxMs become objectTimeMaxMs. */
export function objectTime(timeMs: number): string {
  return `${new Date(Math.min(timeMs, objectTimeMaxMs)).toISOString().slice(0, 19)}Z`;
}

/** Characters of generated suffixes: no vowels and no lookalikes, so that suffixes do not spell words. */
const nameAlphabet = 'bcdfghjklmnpqrstvwxz2456789';
const generatedLength = 5;
const generatedNameMax = 63;

export function generateName(base: string, rng: Rng): string {
  let suffix = '';
  for (let i = 0; i < generatedLength; i++) suffix += nameAlphabet[rng.below(nameAlphabet.length)];
  return base.slice(0, generatedNameMax - generatedLength) + suffix;
}

export interface Sources {
  readonly clock: Clock;
  readonly rng: Rng;
}
