import type { EncodedObject } from '../../cache/encoded-object.js';
import { isManaged, serviceRefOf, type ServiceRef } from '../../service-allocation/ip-addresses.js';
import { holdingsOf, type Holdings } from '../../service-allocation/holdings.js';
import type { Ledger } from '../../service-allocation/ledger.js';
import type { StoredPorts } from '../../service-allocation/node-port-map.js';
import type { ServiceAllocation } from '../../service-allocation/service-allocation.js';
import type { ResourceStore } from '../../registry/resource-store.js';
import type { Clock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import { LoopYieldTimer } from '../../std/loop-yield-timer.js';
import { compareAllocations, type Allocation, type Holder } from './compare-allocations.js';

/**
 * Passes in which an IPAddress or a node port without a Service must be seen before it is released, as in kube-apiserver:
 * other servers write it first and its Service afterwards.
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
  readonly found: readonly { readonly service: ServiceRef; readonly holdings: Holdings }[];
  readonly unreadable: number;
}

/** The cluster IPs of Services and their IPAddress objects. */
interface Side {
  readonly what: string;
  readonly ledger: Ledger;
  readonly namesIn: (holdings: Holdings) => ReadonlySet<string>;
  readonly ipAddressFor: ServiceAllocation['ipAddressFor'];
  readonly isManaged: (ipAddress: EncodedObject) => boolean;
}

/** Compares the cluster IPs and node ports of Services with their allocations, and repairs the allocations. */
export class ServiceRepair {
  /** Number of consecutive passes that saw each leaked allocation. */
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
    const ipAddresses = store.cache.snapshot().range(store.scopeOf(''));
    const held = await this.holdings(stored.range(services.scopeOf('')), signal);
    const found = new Map([...ipAddresses].map((entry) => [entry.attributes.name, entry]));
    await this.repair(side, held.found, found, ({ namespace, name }) => stored.get(services.keyOf(namespace, name)), {
      before,
      signal,
    });
    await this.repairPorts(ports, held, before);
  }

  private async repairPorts(stored: StoredPorts, { found, unreadable }: Held, before: ReadonlyMap<string, number>) {
    const { allocation, logger } = this.dependencies;
    const { nodePorts } = allocation;
    const holders = new Map<number, ServiceRef[]>();
    for (const { service, holdings } of found) {
      for (const port of holdings.nodePorts) {
        const services = holders.get(port);
        if (services) services.push(service);
        else holders.set(port, [service]);
      }
    }
    for (const [nodePort, services] of holders) {
      if (services.length > 1)
        logger.warn('node port is used by several Services; recreate all but one', { nodePort, services });
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
    held: readonly { service: ServiceRef; holdings: Holdings }[],
    ipAddresses: ReadonlyMap<string, EncodedObject>,
    storedService: (service: ServiceRef) => EncodedObject | undefined,
    { before, signal }: { readonly before: ReadonlyMap<string, number>; readonly signal: AbortSignal },
  ): Promise<void> {
    const { allocation, logger } = this.dependencies;
    const { what, ledger } = side;
    const holders = held.map(({ service, holdings }): Holder => ({ service, names: side.namesIn(holdings) }));
    const findings = compareAllocations(
      holders,
      [...ipAddresses.values()].filter(({ corruption }) => !corruption).map((entry) => allocationOf(entry, side)),
    );
    for (const { name, services } of findings.contested) {
      logger.warn('cluster IP is used by several Services; recreate all but one', { [what]: name, services });
    }
    for (const { name, service } of findings.missing) {
      const stored = storedService(service);
      const isDone = stored && (await allocation.restore(ledger, side.ipAddressFor(name, service), stored, signal));
      if (isDone)
        logger.info('repaired the cluster IP allocation: allocated the IP of a Service', {
          [what]: name,
          service,
        });
    }
    for (const name of findings.leaked) {
      const sighting = (before.get(`${what}/${name}`) ?? 0) + 1;
      if (sighting < leakSightingsMin) {
        this.sightings.set(`${what}/${name}`, sighting);
        continue;
      }
      const isDone = await allocation.discard(ledger, ipAddresses.get(name)!, signal);
      if (isDone)
        logger.info('repaired the cluster IP allocation: released an IP that no Service uses', { [what]: name });
    }
  }

  private async holdings(entries: Iterable<EncodedObject>, signal: AbortSignal): Promise<Held> {
    const found: { service: ServiceRef; holdings: Holdings }[] = [];
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
      found.push({ service: { namespace, name }, holdings: holdingsOf(entry.parse()) });
    }
    return { found, unreadable };
  }

  private addressSide(): Side {
    const { allocation } = this.dependencies;
    return {
      what: 'address',
      ledger: allocation.addresses.ledger,
      namesIn: ({ addresses }) => addresses,
      ipAddressFor: (address, service) => allocation.ipAddressFor(address, service),
      isManaged: (ipAddress) => isManaged(ipAddress.parse(), allocation.dependencies.naming),
    };
  }
}

const allocationOf = (entry: EncodedObject, side: Side): Allocation => ({
  name: entry.attributes.name,
  service: serviceRefOf(entry.parse()),
  isManaged: side.isManaged(entry),
});
