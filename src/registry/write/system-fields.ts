import type { Clock } from '../../std/clock.js';
import type { Rng } from '../../std/rng.js';

/** The last second of the year 9999: years have four digits. */
export const objectTimeMaxMs = Date.UTC(9999, 11, 31, 23, 59, 59);

/** The last second that was formatted: writes of the same second share its text. */
let formatted = { second: NaN, text: '' };

/** Formats a time for metadata: UTC, in whole seconds. Times after objectTimeMaxMs become objectTimeMaxMs. */
export function objectTime(timeMs: number): string {
  const second = Math.floor(Math.min(timeMs, objectTimeMaxMs) / 1000);
  if (second !== formatted.second) {
    formatted = { second, text: `${new Date(second * 1000).toISOString().slice(0, 19)}Z` };
  }
  return formatted.text;
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
