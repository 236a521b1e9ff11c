import type { Clock } from '../std/clock.js';
import type { Rng } from '../std/rng.js';

/** The time as objects carry it: whole seconds, UTC. */
export function objectTime(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
}

/** Without vowels and without what looks alike, so that no words are spelt. */
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
