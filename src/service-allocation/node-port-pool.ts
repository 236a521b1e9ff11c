import type { Rng } from '../std/rng.js';
import { bandSplit, nodePortBand, Pool } from './pool.js';

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** Returns a random free node port, from the upper band if it has one; undefined if all are allocated. */
export function chooseFreePort(
  { first, last }: PortRange,
  isFree: (port: number) => boolean,
  rng: Pick<Rng, 'below'>,
): number | undefined {
  const size = last - first + 1;
  const offset = new Pool(size, bandSplit(size, nodePortBand), rng).pick((candidate) => isFree(first + candidate));
  return offset === undefined ? undefined : first + offset;
}
