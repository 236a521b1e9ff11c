import { isIP } from 'node:net';
import type { WatchCache } from '../cache/watch-cache.js';
import { asFields, asItems, asTexts } from '../machinery/fields.js';
import type { KubeObject } from '../machinery/kube-object.js';
import type { ResourceStore } from '../registry/resource-store.js';
import type { Rng } from '../std/rng.js';
import { AddressRange, type IpFamily } from './address-range.js';
import type { Ledger } from './ledger.js';
import { addressBand, bandSplit, Pool } from './pool.js';

/**
 * Addresses given out by chance come from the first million of a range, which is all of the largest IPv4 range in use
 * (/12): a bit each, 128 KiB. The rest of a larger range is there for those who ask for an address by name.
 */
const pooledMax = 2 ** 20;

interface PooledRange {
  readonly range: AddressRange;
  readonly pool: Pool;
}

/** The ranges that addresses may be taken from now, and what is free in each, as the cache has it. */
export class AddressPools {
  private ranges: PooledRange[] = [];

  /** `configured` are the ranges as long as no object says which. */
  constructor(
    private readonly ledger: Ledger,
    private readonly rangeStore: ResourceStore | undefined,
    private readonly configured: { readonly name: string; readonly cidrs: readonly string[] },
    private readonly rng: Rng,
  ) {
    const addresses = ledger.store.cache;
    addresses.observe({
      changed: ({ current, previous }) => {
        const { name } = (current ?? previous)!.attributes;
        for (const pooled of this.ranges) mark(pooled, name, current !== undefined);
      },
      reset: () => this.ranges.forEach((pooled) => fill(pooled, addresses)),
    });
    this.readRanges();
    rangeStore?.cache.observe({ changed: () => this.readRanges(), reset: () => this.readRanges() });
  }

  rangesOf(family: IpFamily): AddressRange[] {
    return this.ranges.filter(({ range }) => range.family === family).map(({ range }) => range);
  }

  /** An address that nobody has and nobody is about to take. */
  pick(family: IpFamily): string | undefined {
    for (const { range, pool } of this.ranges) {
      if (range.family !== family) continue;
      const place = pool.pick((at) => !this.ledger.isWanted(range.addressAt(BigInt(at))));
      if (place !== undefined) return range.addressAt(BigInt(place));
    }
    return undefined;
  }

  private readRanges(): void {
    const wanted = [...new Set(this.readyCidrs().map((cidr) => new AddressRange(cidr).cidr))];
    const known = new Map(this.ranges.map((pooled) => [pooled.range.cidr, pooled]));
    this.ranges = wanted.map((cidr) => known.get(cidr) ?? this.pooled(cidr));
  }

  private readyCidrs(): string[] {
    const { name, cidrs } = this.configured;
    const { rangeStore } = this;
    if (!rangeStore) return [...cidrs];
    const entries = [...rangeStore.cache.snapshot().range(rangeStore.scopeOf(''))];
    const objects = entries.filter(({ corruption }) => !corruption).map((entry) => entry.parse());
    const first = objects.filter(({ metadata }) => metadata.name === name);
    const others = objects.filter(({ metadata }) => metadata.name !== name);
    // Until its object is there and ready, the first range is what the server was told.
    const own = first.some(isReady) ? first.flatMap(cidrsOf) : cidrs;
    return [...own, ...others.filter(isReady).flatMap(cidrsOf)];
  }

  private pooled(cidr: string): PooledRange {
    const range = new AddressRange(cidr);
    const size = Number(range.usable < BigInt(pooledMax) ? range.usable : BigInt(pooledMax));
    // The bands are parts of the whole range, its unusable addresses included.
    const whole = Number(range.size < BigInt(pooledMax) ? range.size : BigInt(pooledMax));
    const split = Math.min(bandSplit(whole, addressBand), size);
    const pooled = { range, pool: new Pool(size, split, this.rng) };
    fill(pooled, this.ledger.store.cache);
    return pooled;
  }
}

const cidrsOf = (serviceCidr: KubeObject): string[] => asTexts(asFields(serviceCidr['spec'])['cidrs']);

const isReady = (serviceCidr: KubeObject): boolean =>
  serviceCidr.metadata.deletionTimestamp === undefined &&
  asItems(asFields(serviceCidr['status'])['conditions']).some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  );

function mark({ range, pool }: PooledRange, address: string, isTaken: boolean): void {
  // Whoever writes past the server may call its object anything.
  if (isIP(address) === 0) return;
  const place = range.placeOf(address);
  if (place === undefined || place >= BigInt(pool.size)) return;
  if (isTaken) pool.take(Number(place));
  else pool.free(Number(place));
}

function fill(pooled: PooledRange, addresses: WatchCache): void {
  pooled.pool.clear();
  for (const { attributes } of addresses.snapshot().range(addresses.prefix)) mark(pooled, attributes.name, true);
}
