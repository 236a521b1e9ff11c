import type { Service, ServiceSpec } from '../catalog/types/core.v1.js';
import type { IPAddress } from '../catalog/types/networking.v1.js';
import type { EncodedObject } from '../cache/encoded-object.js';
import type { NamingProfile } from '../config/naming-profile.js';
import { ApiError } from '../machinery/api-error.js';
import { boundedErrors } from '../machinery/error-budget.js';
import { fieldError, type FieldError } from '../machinery/field-error.js';
import type { Mutable } from '../machinery/mutable.js';
import type { RequestContext } from '../registry/request-context.js';
import type { Reservation } from '../registry/write/reservation.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import { ResourceStore, type StoreDependencies } from '../registry/resource-store.js';
import { YieldTimer } from '../std/yield-timer.js';
import { fromStore } from '../registry/storage-to-api-error.js';
import { objectTime } from '../registry/write/system-fields.js';
import type { Compare } from '../storage/kv-store.js';
import { validateClusterIpFields } from './cluster-ip-fields.validation.js';
import { AddressPools } from './address-pools.js';
import { canonicalAddress, familyOf, type IpFamily } from './address-range.js';
import { Booking } from './booking.js';
import { newIpAddress, addressVersion, serviceRefOf, unservedAddresses, type ServiceRef } from './ip-addresses.js';
import { setClusterIp, addressesToAllocate } from './cluster-ips.js';
import { holdingsOf } from './holdings.js';
import { chooseFamilies, choosePolicy, type ClusterFamilies } from './ip-families.js';
import { Ledger } from './ledger.js';
import { NodePortMap } from './node-port-map.js';
import { chooseFreePort, type PortRange } from './node-port-pool.js';
import { chooseNodePorts, NodePortRefused, type PortTaker } from './node-ports.js';
import type { Cancellation } from '../std/cancellation.js';

interface ServiceAllocationDependencies {
  readonly registry: ResourceRegistry;
  readonly storeDependencies: StoreDependencies;
  readonly naming: NamingProfile;
  /** One CIDR for each IP family, that of the default family first. */
  readonly addressRanges: readonly string[];
  readonly nodePorts: PortRange;
}

const serviceKind = { group: '', kind: 'Service' };
const alreadyAllocated = 'provided IP is already allocated';

/**
 * Allocates the cluster IPs and node ports of Services. A cluster IP is allocated by an IPAddress object, which is created
 * and deleted in the transaction that writes the Service (ADR 014): the store refuses a second object with the name. Node
 * ports are bits of one key, which kube-apiserver shares (ADR 023): they are allocated before the transaction, and released
 * after it.
 */
export class ServiceAllocation {
  readonly families: ClusterFamilies;
  readonly nodePorts: NodePortMap;
  private lazyAddresses: { readonly ledger: Ledger; readonly pools: AddressPools } | undefined;

  constructor(readonly dependencies: ServiceAllocationDependencies) {
    const { storeDependencies, addressRanges, nodePorts } = dependencies;
    this.families = addressRanges.map((cidr) => familyOf(cidr)) as unknown as ClusterFamilies;
    this.nodePorts = new NodePortMap(storeDependencies, nodePorts, (signal) => this.portsInUse(signal));
  }

  /** Created on first use: another API group registers the store of IPAddress objects after this constructor. */
  get addresses(): { readonly ledger: Ledger; readonly pools: AddressPools } {
    return (this.lazyAddresses ??= this.findAddresses());
  }

  async reserve(
    next: Mutable<Service> | undefined,
    old: Service | undefined,
    request: RequestContext,
  ): Promise<Reservation | undefined> {
    const booking = new Booking(this.nodePorts);
    try {
      if (next) await this.allocate(next, old, booking, request);
      if (!request.dryRun) await this.release(next, old, booking, request.signal);
    } catch (error) {
      booking.end();
      throw error instanceof NodePortRefused ? ApiError.invalid(serviceKind, nameOf(next), error.errors) : error;
    }
    return booking.isEmpty ? undefined : booking;
  }

  /** Returns a new IPAddress object that allocates an address to a Service. */
  ipAddressFor(address: string, service: ServiceRef): IPAddress {
    const { rng, clock } = this.dependencies.storeDependencies;
    const system = { uid: rng.uuid(), creationTimestamp: objectTime(clock.now()) };
    return newIpAddress(address, service, this.dependencies.naming, system);
  }

  /** Returns the node ports of all Services in the latest state of the store. */
  private async portsInUse(signal?: Cancellation): Promise<ReadonlySet<number>> {
    await this.catchUp(signal);
    const { store } = this.dependencies.registry.require('', 'v1', 'services');
    const ports = new Set<number>();
    for (const entry of store.cache.snapshot().range(store.scopeOf(''))) {
      if (!entry.corruption) for (const port of holdingsOf(entry.parse()).nodePorts) ports.add(port);
    }
    return ports;
  }

  /** Creates a missing IPAddress object of a Service. Returns false if the Service has changed. */
  async restore(ledger: Ledger, ipAddress: IPAddress, { key, revision }: EncodedObject, signal: Cancellation) {
    const booking = new Booking();
    booking.createObject(ledger, ipAddress);
    try {
      return await this.commit(booking, [{ key, modRevision: revision }], signal);
    } finally {
      booking.end();
    }
  }

  /** Deletes an IPAddress object of which no Service has the address. Returns false if the object has changed. */
  discard(ledger: Ledger, ipAddress: EncodedObject, signal: Cancellation): Promise<boolean> {
    const booking = new Booking();
    booking.deleteObject(ledger, ipAddress.attributes.name, ipAddress);
    return this.commit(booking, [], signal);
  }

  private async commit(booking: Booking, guards: readonly Compare[], signal: Cancellation): Promise<boolean> {
    const { kv } = this.dependencies.storeDependencies;
    const result = await fromStore(kv.txn([...guards, ...booking.compares], booking.writes, { signal }));
    if (result.succeeded) await booking.committed(result.revision);
    return result.succeeded;
  }

  /** Fills in families, cluster IPs and node ports. */
  private async allocate(
    next: Mutable<Service>,
    old: Service | undefined,
    booking: Booking,
    request: RequestContext,
  ): Promise<void> {
    const { spec = {} } = next;
    const before = old && (old.spec ?? {});
    const refuse = (validate: () => readonly FieldError[]) => {
      const errors = boundedErrors(validate);
      if (errors.length > 0) throw ApiError.invalid(serviceKind, nameOf(next), errors);
    };
    choosePolicy(spec, before);
    refuse(() => validateClusterIpFields(spec));
    refuse(() => chooseFamilies(spec, before, this.families));
    const service = { namespace: next.metadata.namespace ?? '', name: nameOf(next) };
    for (const { index, family, requested } of addressesToAllocate(spec, before)) {
      const address = requested === '' ? await this.anyAddress(family, request) : requested;
      if (requested !== '') {
        const problem = await this.problemWith(requested, family, request);
        if (problem !== undefined) refuse(() => [notAllocated(spec, requested, problem)]);
      }
      setClusterIp(spec, index, address);
      const ipAddress = this.ipAddressFor(canonicalAddress(address), service);
      if (!request.dryRun) booking.createObject(this.addresses.ledger, ipAddress);
    }
    await chooseNodePorts(spec, before, this.portTaker(booking, request));
  }

  private async anyAddress(family: IpFamily, { signal, dryRun }: RequestContext): Promise<string> {
    const { pools } = this.addresses;
    // A dry run returns the network address, which no Service can have.
    const [range] = pools.rangesOf(family);
    if (dryRun && range) return range.network;
    let address = pools.pick(family);
    if (address === undefined) {
      await this.catchUp(signal);
      address = pools.pick(family);
    }
    if (address === undefined) throw ApiError.internal('failed to allocate a serviceIP: range is full');
    return address;
  }

  private async problemWith(address: string, family: IpFamily, request: RequestContext): Promise<string | undefined> {
    const { pools, ledger } = this.addresses;
    const ranges = pools.rangesOf(family);
    const range = ranges.find((it) => it.contains(address));
    if (!range && !request.dryRun) return 'the provided network does not match the current range';
    if (range?.offsetOf(address) === undefined) {
      const { cidr } = range ?? ranges[0] ?? { cidr: '' };
      return `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${cidr}`;
    }
    if (request.dryRun) return undefined;
    return (await isTaken(ledger, canonicalAddress(address), request)) ? alreadyAllocated : undefined;
  }

  private portTaker(booking: Booking, { dryRun }: RequestContext): PortTaker {
    const own = new Set<number>();
    const { nodePorts } = this;
    // Every allocation writes the whole map, and the memory store returns without an I/O wait.
    const timer = new YieldTimer(this.dependencies.storeDependencies.clock);
    const { first, last } = nodePorts.range;
    const taken = 'provided port is already allocated';
    const add = (port: number) => {
      own.add(port);
      if (!dryRun) booking.portAllocated(port);
    };
    const any = (ports: ReadonlySet<number>) =>
      chooseFreePort(
        nodePorts.range,
        (port) => !ports.has(port) && !own.has(port),
        this.dependencies.storeDependencies.rng,
      );
    return {
      take: async (port) => {
        if (own.has(port)) return taken;
        if (timer.isDue()) await timer.yield();
        if (!dryRun) {
          if (!nodePorts.includes(port)) {
            return `provided port is not in the valid range. The range of valid ports is ${first}-${last}`;
          }
          const isFree = await nodePorts.change((ports) => !ports.has(port) && ports.add(port).size > 0);
          if (!isFree) return taken;
        }
        add(port);
        return undefined;
      },
      takeAny: async () => {
        if (timer.isDue()) await timer.yield();
        const port = dryRun
          ? any(nodePorts.guess)
          : await nodePorts.change((ports) => {
              const found = any(ports);
              if (found !== undefined) ports.add(found);
              return found;
            });
        if (port !== undefined) add(port);
        return port;
      },
    };
  }

  /** Waits until the cache has all writes, so that values that another server has just released can be allocated. */
  private async catchUp(signal: Cancellation | undefined): Promise<void> {
    const { feed, limits } = this.dependencies.storeDependencies;
    await feed.consistentRevision({ timeoutMs: limits.freshnessTimeoutMs, caller: { signal } });
  }

  /** Releases what the old object has and the new one does not. */
  private async release(
    next: Service | undefined,
    old: Service | undefined,
    booking: Booking,
    signal: Cancellation | undefined,
  ): Promise<void> {
    if (!old) return;
    const before = holdingsOf(old);
    const after = holdingsOf(next);
    booking.releasePorts([...before.nodePorts].filter((port) => !after.nodePorts.has(port)));
    const { ledger } = this.addresses;
    for (const name of [...before.addresses].filter((it) => !after.addresses.has(it))) {
      const found = ledger.find(name) ?? (await ledger.look(name, signal));
      if (!found || found.corruption) continue;
      const service = serviceRefOf(found.parse());
      // The IPAddress object was deleted, and another Service has the address.
      if (service?.namespace !== old.metadata.namespace || service?.name !== old.metadata.name) continue;
      booking.deleteObject(ledger, name, found);
    }
  }

  private findAddresses() {
    const { registry, storeDependencies, naming, addressRanges } = this.dependencies;
    const { group } = addressVersion(naming);
    const storeOf = (plural: string) => {
      const found = registry.find(group, 'v1', plural) ?? registry.find(group, 'v1beta1', plural);
      return found?.type === 'stored' ? found.store : undefined;
    };
    const ledger = new Ledger(
      storeOf('ipaddresses') ?? new ResourceStore(unservedAddresses(naming), storeDependencies),
    );
    const configured = { name: naming.serviceName, cidrs: addressRanges };
    return { ledger, pools: new AddressPools(ledger, storeOf('servicecidrs'), configured, storeDependencies.rng) };
  }
}

const nameOf = (service: Service | undefined): string => service?.metadata.name ?? '';

function notAllocated({ clusterIPs = [] }: ServiceSpec, address: string, problem: string): FieldError {
  return fieldError.invalid('spec.clusterIPs', clusterIPs, `failed to allocate IP ${address}: ${problem}`);
}

/** True if the store has an object with the name. The ledger may still have one that was deleted. */
async function isTaken(ledger: Ledger, name: string, { signal }: RequestContext): Promise<boolean> {
  return ledger.find(name) !== undefined && (await ledger.look(name, signal)) !== undefined;
}
