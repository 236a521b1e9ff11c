import type { EncodedObject } from '../../cache/encoded-object.js';
import { isManaged, ownerOf, type Owner } from '../../modules/core/allocation/claims.js';
import { holdingsOf, type Holdings } from '../../modules/core/allocation/holdings.js';
import type { Ledger } from '../../modules/core/allocation/ledger.js';
import type { ServiceAllocation } from '../../modules/core/allocation/service-allocation.js';
import type { ResourceStore } from '../../registry/resource-store.js';
import type { Clock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import { compareClaims, type Claim, type Holder } from './compare-claims.js';

/**
 * Other writers of the store take an address first and write its service afterwards: what has no owner may be on its way
 * to have one. So a leak is believed only when it has been seen so many times, as the reference does.
 */
const leakSightingsMin = 3;
/** Other requests have their turn after so many. */
const servicesATurn = 500;

interface Parts {
  readonly allocation: ServiceAllocation;
  readonly services: ResourceStore;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** One kind of what services have. */
interface Side {
  readonly what: string;
  readonly ledger: Ledger;
  readonly namesIn: (holdings: Holdings) => ReadonlySet<string>;
  readonly claim: (name: string, owner: Owner) => ReturnType<ServiceAllocation['claim']>;
  readonly isManaged: (claim: EncodedObject) => boolean;
}

/** Compares what services have with what is taken for them, and puts right what can be put right. */
export class ServiceRepair {
  /** How often each leak has been seen, one pass after the other. */
  private sightings = new Map<string, number>();

  constructor(private readonly parts: Parts) {}

  async pass(signal: AbortSignal): Promise<void> {
    const { services } = this.parts;
    const sides = this.sides();
    if (![services.cache, ...sides.map(({ ledger }) => ledger.store.cache)].every(({ isReady }) => isReady)) return;
    // All are of one moment: the feed moves them together.
    const stored = services.cache.snapshot();
    const claims = sides.map(({ ledger: { store } }) => store.cache.snapshot().range(store.scopeOf('')));
    const held = await this.holdings(stored.range(services.scopeOf('')), signal);
    const before = this.sightings;
    this.sightings = new Map();
    for (const [index, side] of sides.entries()) {
      const found = new Map([...claims[index]!].map((entry) => [entry.attributes.name, entry]));
      await this.repair(side, held, found, (owner) => stored.get(services.keyOf(owner.namespace, owner.name)), {
        before,
        signal,
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
    const { allocation, logger } = this.parts;
    const { what, ledger } = side;
    const holders = held.map(({ owner, holdings }): Holder => ({ owner, names: side.namesIn(holdings) }));
    const findings = compareClaims(
      holders,
      [...claims.values()].filter(({ corruption }) => !corruption).map((entry) => claimOf(entry, side)),
    );
    for (const { name, owners } of findings.contested) {
      logger.warn(`one ${what} is had by several; give the services others`, { [what]: name, owners });
    }
    for (const { name, owner } of findings.missing) {
      const service = serviceOf(owner);
      const isDone = service && (await allocation.restore(ledger, side.claim(name, owner), service, signal));
      if (isDone) logger.info(`the ${what} of a service was not marked as taken`, { [what]: name, owner });
    }
    for (const name of findings.leaked) {
      const sighting = (before.get(`${what}/${name}`) ?? 0) + 1;
      if (sighting < leakSightingsMin) {
        this.sightings.set(`${what}/${name}`, sighting);
        continue;
      }
      const isDone = await allocation.discard(ledger, claims.get(name)!, signal);
      if (isDone) logger.info(`a ${what} was taken for a service that does not have it`, { [what]: name });
    }
  }

  private async holdings(entries: Iterable<EncodedObject>, signal: AbortSignal) {
    const found: { owner: Owner; holdings: Holdings }[] = [];
    for (const entry of entries) {
      if (entry.corruption) continue;
      const { namespace, name } = entry.attributes;
      found.push({ owner: { namespace, name }, holdings: holdingsOf(entry.parse()) });
      if (found.length % servicesATurn !== 0) continue;
      await new Promise<void>((resolve) => this.parts.clock.after(0, resolve));
      signal.throwIfAborted();
    }
    return found;
  }

  private sides(): Side[] {
    const { allocation } = this.parts;
    return [
      {
        what: 'address',
        ledger: allocation.addresses.ledger,
        namesIn: ({ addresses }) => addresses,
        claim: (address, owner) => allocation.claim({ address }, owner),
        isManaged: (claim) => isManaged(claim.parse(), allocation.parts.naming),
      },
      {
        what: 'nodePort',
        ledger: allocation.nodePorts,
        namesIn: ({ nodePorts }) => new Set([...nodePorts].map(String)),
        claim: (port, owner) => allocation.claim({ nodePort: Number(port) }, owner),
        isManaged: () => true,
      },
    ];
  }
}

const claimOf = (entry: EncodedObject, side: Side): Claim => ({
  name: entry.attributes.name,
  owner: ownerOf(entry.parse()),
  isManaged: side.isManaged(entry),
});
