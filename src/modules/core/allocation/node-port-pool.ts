import type { Rng } from '../../../std/rng.js';
import type { Ledger } from './ledger.js';
import { bandSplit, nodePortBand, Pool } from './pool.js';

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** The node ports that services may have, and what is free of them, as the cache has it. */
export class NodePortPool {
  private readonly pool: Pool;

  constructor(
    private readonly ledger: Ledger,
    readonly range: PortRange,
    rng: Rng,
  ) {
    const size = range.last - range.first + 1;
    this.pool = new Pool(size, bandSplit(size, nodePortBand), rng);
    const { cache } = ledger.store;
    cache.observe({
      changed: ({ current, previous }) => this.mark((current ?? previous)!.attributes.name, current !== undefined),
      reset: () => {
        this.pool.clear();
        for (const { attributes } of cache.snapshot().range(cache.prefix)) this.mark(attributes.name, true);
      },
    });
  }

  includes(port: number): boolean {
    return port >= this.range.first && port <= this.range.last;
  }

  pick(isAlsoFree: (port: number) => boolean): number | undefined {
    const { first } = this.range;
    const place = this.pool.pick((at) => !this.ledger.isWanted(String(first + at)) && isAlsoFree(first + at));
    return place === undefined ? undefined : first + place;
  }

  private mark(name: string, isTaken: boolean): void {
    const port = Number(name);
    if (!this.includes(port)) return;
    if (isTaken) this.pool.take(port - this.range.first);
    else this.pool.free(port - this.range.first);
  }
}
