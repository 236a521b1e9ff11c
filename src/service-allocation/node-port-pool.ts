import type { Rng } from '../std/rng.js';
import { bandSplit, nodePortBand, Pool } from './pool.js';

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** Chooses a free node port: by chance, from the upper band as long as it has one. Undefined when there is none. */
export function chooseFreePort(
  { first, last }: PortRange,
  isFree: (port: number) => boolean,
  rng: Pick<Rng, 'below'>,
): number | undefined {
  const size = last - first + 1;
  const place = new Pool(size, bandSplit(size, nodePortBand), rng).pick((at) => isFree(first + at));
  return place === undefined ? undefined : first + place;
}
