import type { EncodedObject } from '../cache/encoded-object.js';
import type { NamingProfile } from '../config/naming-profile.js';
import { ApiError } from '../machinery/api-error.js';
import { boundedErrors } from '../machinery/error-budget.js';
import { fieldError, type FieldError } from '../machinery/field-error.js';
import { asFields, asTexts, type Fields } from '../machinery/fields.js';
import type { KubeObject } from '../machinery/kube-object.js';
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
import { addressClaim, addressVersion, ownerOf, unservedAddresses, type Owner } from './claims.js';
import { putAddress, wantedAddresses } from './cluster-ips.js';
import { holdingsOf } from './holdings.js';
import { chooseFamilies, choosePolicy, type ClusterFamilies } from './ip-families.js';
import { Ledger } from './ledger.js';
import { NodePortMap } from './node-port-map.js';
import { chooseFreePort, type PortRange } from './node-port-pool.js';
import { chooseNodePorts, NodePortRefused, type PortTaker } from './node-ports.js';

export interface AllocationParts {
  readonly registry: ResourceRegistry;
  readonly storeDependencies: StoreDependencies;
  readonly naming: NamingProfile;
  /** CIDRs, one a family; the first is of the default family. */
  readonly addressRanges: readonly string[];
  readonly nodePorts: PortRange;
}

const serviceKind = { group: '', kind: 'Service' };
const alreadyAllocated = 'provided IP is already allocated';

/**
 * Gives services their addresses and node ports. An address is an object of its own that is made and removed in the
 * transaction of the service (ADR 014): the store refuses a second one of a name. Node ports are bits of one key, which
 * kube-apiserver shares (ADR 023): they are taken before the write of the service, and given back after it.
 */
export class ServiceAllocation {
  readonly families: ClusterFamilies;
  readonly nodePorts: NodePortMap;
  private lazyAddresses: { readonly ledger: Ledger; readonly pools: AddressPools } | undefined;

  constructor(readonly parts: AllocationParts) {
    const { storeDependencies, addressRanges, nodePorts } = parts;
    this.families = addressRanges.map((cidr) => familyOf(cidr)) as unknown as ClusterFamilies;
    this.nodePorts = new NodePortMap(storeDependencies, nodePorts, (signal) => this.portsInUse(signal));
  }

  /** The store of addresses is another group's: it is there when the first service comes. */
  get addresses(): { readonly ledger: Ledger; readonly pools: AddressPools } {
    return (this.lazyAddresses ??= this.findAddresses());
  }

  async reserve(
    next: KubeObject | undefined,
    old: KubeObject | undefined,
    request: RequestContext,
  ): Promise<Reservation | undefined> {
    const booking = new Booking(this.nodePorts);
    try {
      if (next) await this.fill(next, old, booking, request);
      if (!request.dryRun) await this.giveBack(next, old, booking, request.signal);
    } catch (error) {
      booking.end();
      throw error instanceof NodePortRefused ? ApiError.invalid(serviceKind, nameOf(next), error.errors) : error;
    }
    return booking.isEmpty ? undefined : booking;
  }

  /** The object by which a service has its address. */
  claim(address: string, owner: Owner): KubeObject {
    const { rng, clock } = this.parts.storeDependencies;
    const system = { uid: rng.uuid(), creationTimestamp: objectTime(clock.now()) };
    return addressClaim(address, owner, this.parts.naming, system);
  }

  /** What the services have at the latest state of the store. */
  private async portsInUse(signal?: AbortSignal): Promise<ReadonlySet<number>> {
    await this.catchUp(signal);
    const { store } = this.parts.registry.require('', 'v1', 'services');
    const ports = new Set<number>();
    for (const entry of store.cache.snapshot().range(store.scopeOf(''))) {
      if (!entry.corruption) for (const port of holdingsOf(entry.parse()).nodePorts) ports.add(port);
    }
    return ports;
  }

  /** Makes the claim of what a service has without one; false when the service is another by now. */
  async restore(ledger: Ledger, claim: KubeObject, { key, revision }: EncodedObject, signal: AbortSignal) {
    const booking = new Booking();
    booking.take(ledger, claim);
    try {
      return await this.settle(booking, [{ key, modRevision: revision }], signal);
    } finally {
      booking.end();
    }
  }

  /** Removes a claim that nobody has a right to; false when it is another by now. */
  discard(ledger: Ledger, claim: EncodedObject, signal: AbortSignal): Promise<boolean> {
    const booking = new Booking();
    booking.giveBack(ledger, claim.attributes.name, claim);
    return this.settle(booking, [], signal);
  }

  private async settle(booking: Booking, guards: readonly Compare[], signal: AbortSignal): Promise<boolean> {
    const { kv } = this.parts.storeDependencies;
    const result = await fromStore(kv.txn([...guards, ...booking.compares], booking.writes, { signal }));
    if (result.succeeded) await booking.committed(result.revision);
    return result.succeeded;
  }

  private async fill(
    next: KubeObject,
    old: KubeObject | undefined,
    booking: Booking,
    request: RequestContext,
  ): Promise<void> {
    const spec = asFields(next['spec']);
    const before = old && asFields(old['spec']);
    const refuse = (validate: () => readonly FieldError[]) => {
      const errors = boundedErrors(validate);
      if (errors.length > 0) throw ApiError.invalid(serviceKind, nameOf(next), errors);
    };
    choosePolicy(spec, before);
    refuse(() => validateClusterIpFields(spec));
    refuse(() => chooseFamilies(spec, before, this.families));
    const owner = { namespace: next.metadata.namespace ?? '', name: nameOf(next) };
    for (const { index, family, asked } of wantedAddresses(spec, before)) {
      const address = asked === '' ? await this.anyAddress(family, request) : asked;
      if (asked !== '') {
        const problem = await this.problemWith(asked, family, request);
        if (problem !== undefined) refuse(() => [notAllocated(spec, asked, problem)]);
      }
      putAddress(spec, index, address);
      const claim = this.claim(canonicalAddress(address), owner);
      if (!request.dryRun) booking.take(this.addresses.ledger, claim);
    }
    await chooseNodePorts(spec, before, this.portTaker(booking, request));
  }

  private async anyAddress(family: IpFamily, { signal, dryRun }: RequestContext): Promise<string> {
    const { pools } = this.addresses;
    // No address that a service could have, so that nobody counts on it.
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
    if (range?.placeOf(address) === undefined) {
      const { cidr } = range ?? ranges[0] ?? { cidr: '' };
      return `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${cidr}`;
    }
    if (request.dryRun) return undefined;
    return (await isTaken(ledger, canonicalAddress(address), request)) ? alreadyAllocated : undefined;
  }

  private portTaker(booking: Booking, { dryRun }: RequestContext): PortTaker {
    const own = new Set<number>();
    const { nodePorts } = this;
    // Each port that is taken writes the whole map, and a store in memory answers at once.
    const timer = new YieldTimer(this.parts.storeDependencies.clock);
    const { first, last } = nodePorts.range;
    const taken = 'provided port is already allocated';
    const add = (port: number) => {
      own.add(port);
      if (!dryRun) booking.tookPort(port);
    };
    const any = (ports: ReadonlySet<number>) =>
      chooseFreePort(nodePorts.range, (port) => !ports.has(port) && !own.has(port), this.parts.storeDependencies.rng);
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

  /** What has just been given back elsewhere may not have been seen yet. */
  private async catchUp(signal: AbortSignal | undefined): Promise<void> {
    const { feed, limits } = this.parts.storeDependencies;
    await feed.consistentRevision({ timeoutMs: limits.freshnessTimeoutMs, ...(signal && { signal }) });
  }

  private async giveBack(
    next: KubeObject | undefined,
    old: KubeObject | undefined,
    booking: Booking,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (!old) return;
    const before = holdingsOf(old);
    const after = holdingsOf(next);
    booking.givesBackPorts([...before.nodePorts].filter((port) => !after.nodePorts.has(port)));
    const { ledger } = this.addresses;
    for (const name of [...before.addresses].filter((it) => !after.addresses.has(it))) {
      const found = ledger.find(name) ?? (await ledger.look(name, signal));
      if (!found || found.corruption) continue;
      const owner = ownerOf(found.parse());
      // Somebody else's, perhaps because somebody took ours away.
      if (owner?.namespace !== old.metadata.namespace || owner?.name !== old.metadata.name) continue;
      booking.giveBack(ledger, name, found);
    }
  }

  private findAddresses() {
    const { registry, storeDependencies, naming, addressRanges } = this.parts;
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

const nameOf = (service: KubeObject | undefined): string => service?.metadata.name ?? '';

function notAllocated(spec: Fields, asked: string, problem: string): FieldError {
  const message = `failed to allocate IP ${asked}: ${problem}`;
  return fieldError.invalid('spec.clusterIPs', asTexts(spec['clusterIPs']), message);
}

/** Only the store is believed when it says so. */
async function isTaken(ledger: Ledger, name: string, { signal }: RequestContext): Promise<boolean> {
  return ledger.find(name) !== undefined && (await ledger.look(name, signal)) !== undefined;
}
