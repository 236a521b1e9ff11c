import { isIP } from 'node:net';
import type { ServiceCIDR } from '../catalog/types/networking.v1.js';
import type { WatchCache } from '../cache/watch-cache.js';
import type { ResourceStore } from '../registry/resource-store.js';
import type { Rng } from '../std/rng.js';
import { AddressRange, type IpFamily } from './address-range.js';
import type { Ledger } from './ledger.js';
import { addressBand, bandSplit, Pool } from './pool.js';

/**
 * Random addresses come from the first 2^20 addresses of a CIDR: all of the largest IPv4 CIDR in use (/12), in a bitmap of
 * 128 KiB. The other addresses of a larger CIDR are allocated only when a client requests them.
 */
const pooledMax = 2 ** 20;

interface PooledRange {
  readonly range: AddressRange;
  readonly pool: Pool;
}

/** The CIDRs from which cluster IPs are allocated, and the free addresses of each, from the cache. */
export class AddressPools {
  private ranges: PooledRange[] = [];

  /** `configured`: the CIDRs to use until the ServiceCIDR object with that name is ready. */
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

  /** Returns a free address that no other request of this server is about to allocate. */
  pick(family: IpFamily): string | undefined {
    for (const { range, pool } of this.ranges) {
      if (range.family !== family) continue;
      const offset = pool.pick((candidate) => !this.ledger.isInUse(range.addressAt(BigInt(candidate))));
      if (offset !== undefined) return range.addressAt(BigInt(offset));
    }
    return undefined;
  }

  private readRanges(): void {
    const ready = [...new Set(this.readyCidrs().map((cidr) => new AddressRange(cidr).cidr))];
    const known = new Map(this.ranges.map((pooled) => [pooled.range.cidr, pooled]));
    this.ranges = ready.map((cidr) => known.get(cidr) ?? this.pooled(cidr));
  }

  private readyCidrs(): string[] {
    const { name, cidrs } = this.configured;
    const { rangeStore } = this;
    if (!rangeStore) return [...cidrs];
    const entries = [...rangeStore.cache.snapshot().range(rangeStore.scopeOf(''))];
    const objects: ServiceCIDR[] = entries.filter(({ corruption }) => !corruption).map((entry) => entry.parse());
    const first = objects.filter(({ metadata }) => metadata.name === name);
    const others = objects.filter(({ metadata }) => metadata.name !== name);
    // Until the default ServiceCIDR object is ready, the configured CIDRs replace it.
    const own = first.some(isReady) ? first.flatMap(cidrsOf) : cidrs;
    return [...own, ...others.filter(isReady).flatMap(cidrsOf)];
  }

  private pooled(cidr: string): PooledRange {
    const range = new AddressRange(cidr);
    const size = Number(range.usable < BigInt(pooledMax) ? range.usable : BigInt(pooledMax));
    // The size of the bands is computed from the whole CIDR, including its unusable addresses.
    const whole = Number(range.size < BigInt(pooledMax) ? range.size : BigInt(pooledMax));
    const split = Math.min(bandSplit(whole, addressBand), size);
    const pooled = { range, pool: new Pool(size, split, this.rng) };
    fill(pooled, this.ledger.store.cache);
    return pooled;
  }
}

const cidrsOf = ({ spec }: ServiceCIDR): readonly string[] => spec?.cidrs ?? [];

const isReady = ({ metadata, status }: ServiceCIDR): boolean =>
  metadata.deletionTimestamp === undefined &&
  (status?.conditions ?? []).some((condition) => condition.type === 'Ready' && condition.status === 'True');

function mark({ range, pool }: PooledRange, address: string, isTaken: boolean): void {
  // Objects that were written directly to etcd may have any name.
  if (isIP(address) === 0) return;
  const offset = range.offsetOf(address);
  if (offset === undefined || offset >= BigInt(pool.size)) return;
  if (isTaken) pool.take(Number(offset));
  else pool.free(Number(offset));
}

function fill(pooled: PooledRange, addresses: WatchCache): void {
  pooled.pool.clear();
  for (const { attributes } of addresses.snapshot().range(addresses.prefix)) mark(pooled, attributes.name, true);
}
