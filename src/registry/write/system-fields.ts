import type { Clock } from '../../std/clock.js';
import type { Rng } from '../../std/rng.js';

/** Formats a time for metadata: UTC, in whole seconds. */
export function objectTime(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
}

/** Without vowels and lookalike characters, so that suffixes do not spell words. */
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
