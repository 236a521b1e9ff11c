import type { EncodedObject } from '../../cache/encoded-object.js';
import { isManaged, ownerOf, type Owner } from '../../service-allocation/claims.js';
import { holdingsOf, type Holdings } from '../../service-allocation/holdings.js';
import type { Ledger } from '../../service-allocation/ledger.js';
import type { StoredPorts } from '../../service-allocation/node-port-map.js';
import type { ServiceAllocation } from '../../service-allocation/service-allocation.js';
import type { ResourceStore } from '../../registry/resource-store.js';
import type { Clock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import { LoopYieldTimer } from '../../std/loop-yield-timer.js';
import { compareClaims, type Claim, type Holder } from './compare-claims.js';

/**
 * Passes in which a claim without a Service must be seen before it is removed, as in kube-apiserver: other servers write
 * the claim first and its Service afterwards.
 */
const leakSightingsMin = 3;
/** Other requests run after this time. */
const sliceMs = 5;

interface Dependencies {
  readonly allocation: ServiceAllocation;
  readonly services: ResourceStore;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Cluster IPs and node ports of all readable Services. */
interface Held {
  readonly found: readonly { readonly owner: Owner; readonly holdings: Holdings }[];
  readonly unreadable: number;
}

/** The cluster IPs of Services and their claims. */
interface Side {
  readonly what: string;
  readonly ledger: Ledger;
  readonly namesIn: (holdings: Holdings) => ReadonlySet<string>;
  readonly claim: (name: string, owner: Owner) => ReturnType<ServiceAllocation['claim']>;
  readonly isManaged: (claim: EncodedObject) => boolean;
}

/** Compares the cluster IPs and node ports of Services with their claims, and repairs the claims. */
export class ServiceRepair {
  /** Number of consecutive passes that saw each leaked claim. */
  private sightings = new Map<string, number>();

  constructor(private readonly dependencies: Dependencies) {}

  async pass(signal: AbortSignal): Promise<void> {
    const { services, allocation } = this.dependencies;
    const side = this.addressSide();
    if (![services.cache, side.ledger.store.cache].every(({ isReady }) => isReady)) return;
    const before = this.sightings;
    this.sightings = new Map();
    const ports = await allocation.nodePorts.read(signal);
    // The caches then have all that was written before the map was read: a port without a Service is leaked, or its Service
    // is about to be written.
    const { feed, limits } = services.dependencies;
    await feed.consistentRevision({ timeoutMs: limits.freshnessTimeoutMs, caller: { signal } });
    // The snapshots are of the same revision, since the feed updates all caches together.
    const stored = services.cache.snapshot();
    const { store } = side.ledger;
    const claims = store.cache.snapshot().range(store.scopeOf(''));
    const held = await this.holdings(stored.range(services.scopeOf('')), signal);
    const found = new Map([...claims].map((entry) => [entry.attributes.name, entry]));
    await this.repair(side, held.found, found, (owner) => stored.get(services.keyOf(owner.namespace, owner.name)), {
      before,
      signal,
    });
    await this.repairPorts(ports, held, before);
  }

  private async repairPorts(stored: StoredPorts, { found, unreadable }: Held, before: ReadonlyMap<string, number>) {
    const { allocation, logger } = this.dependencies;
    const { nodePorts } = allocation;
    const holders = new Map<number, Owner[]>();
    for (const { owner, holdings } of found) {
      for (const port of holdings.nodePorts) {
        const owners = holders.get(port);
        if (owners) owners.push(owner);
        else holders.set(port, [owner]);
      }
    }
    for (const [nodePort, owners] of holders) {
      if (owners.length > 1)
        logger.warn('node port is used by several Services; recreate all but one', { nodePort, owners });
    }
    const missing = [...holders.keys()].filter((port) => nodePorts.includes(port) && !stored.ports.has(port));
    const leaked = new Set<number>();
    for (const port of stored.ports) {
      // A Service that cannot be read may have the port.
      if (holders.has(port) || unreadable > 0) continue;
      const sighting = (before.get(`nodePort/${port}`) ?? 0) + 1;
      if (sighting < leakSightingsMin) this.sightings.set(`nodePort/${port}`, sighting);
      else leaked.add(port);
    }
    if (!stored.needsRepair && missing.length === 0 && leaked.size === 0) return;
    const ports = new Set([...stored.ports, ...missing].filter((port) => !leaked.has(port)));
    if (!(await nodePorts.replace(ports, stored))) return;
    if (missing.length > 0)
      logger.info('repaired the node port allocation: allocated node ports of Services', {
        nodePorts: missing.slice(0, 20),
      });
    if (leaked.size > 0) {
      logger.info('repaired the node port allocation: released node ports that no Service uses', {
        nodePorts: [...leaked].slice(0, 20),
      });
    }
  }

  private async repair(
    side: Side,
    held: readonly { owner: Owner; holdings: Holdings }[],
    claims: ReadonlyMap<string, EncodedObject>,
    serviceOf: (owner: Owner) => EncodedObject | undefined,
    { before, signal }: { readonly before: ReadonlyMap<string, number>; readonly signal: AbortSignal },
  ): Promise<void> {
    const { allocation, logger } = this.dependencies;
    const { what, ledger } = side;
    const holders = held.map(({ owner, holdings }): Holder => ({ owner, names: side.namesIn(holdings) }));
    const findings = compareClaims(
      holders,
      [...claims.values()].filter(({ corruption }) => !corruption).map((entry) => claimOf(entry, side)),
    );
    for (const { name, owners } of findings.contested) {
      logger.warn('cluster IP is used by several Services; recreate all but one', { [what]: name, owners });
    }
    for (const { name, owner } of findings.missing) {
      const service = serviceOf(owner);
      const isDone = service && (await allocation.restore(ledger, side.claim(name, owner), service, signal));
      if (isDone)
        logger.info('repaired the cluster IP allocation: allocated the IP of a Service', { [what]: name, owner });
    }
    for (const name of findings.leaked) {
      const sighting = (before.get(`${what}/${name}`) ?? 0) + 1;
      if (sighting < leakSightingsMin) {
        this.sightings.set(`${what}/${name}`, sighting);
        continue;
      }
      const isDone = await allocation.discard(ledger, claims.get(name)!, signal);
      if (isDone)
        logger.info('repaired the cluster IP allocation: released an IP that no Service uses', { [what]: name });
    }
  }

  private async holdings(entries: Iterable<EncodedObject>, signal: AbortSignal): Promise<Held> {
    const found: { owner: Owner; holdings: Holdings }[] = [];
    let unreadable = 0;
    const yieldTimer = new LoopYieldTimer(this.dependencies.clock, sliceMs);
    for (const entry of entries) {
      if (yieldTimer.isDue()) {
        await yieldTimer.yield();
        signal.throwIfAborted();
      }
      if (entry.corruption) {
        unreadable++;
        continue;
      }
      const { namespace, name } = entry.attributes;
      found.push({ owner: { namespace, name }, holdings: holdingsOf(entry.parse()) });
    }
    return { found, unreadable };
  }

  private addressSide(): Side {
    const { allocation } = this.dependencies;
    return {
      what: 'address',
      ledger: allocation.addresses.ledger,
      namesIn: ({ addresses }) => addresses,
      claim: (address, owner) => allocation.claim(address, owner),
      isManaged: (claim) => isManaged(claim.parse(), allocation.dependencies.naming),
    };
  }
}

const claimOf = (entry: EncodedObject, side: Side): Claim => ({
  name: entry.attributes.name,
  owner: ownerOf(entry.parse()),
  isManaged: side.isManaged(entry),
});
