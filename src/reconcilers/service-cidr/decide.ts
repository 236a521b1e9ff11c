import type { Condition } from '../../catalog/types/meta.v1.js';
import type { ServiceCIDR } from '../../catalog/types/networking.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { AddressRange } from '../../service-allocation/address-range.js';
import { capitalized } from '../../std/capitalized.js';

/** `ready`: addresses are allocated from it. `inUse`: being deleted, with allocated addresses. `free`: without them. */
type RangeState = 'ready' | 'inUse' | 'free';

const rangesOf = ({ spec }: ServiceCIDR): AddressRange[] => (spec?.cidrs ?? []).map((cidr) => new AddressRange(cidr));

/** A deleted ServiceCIDR is in use while it has allocated addresses that no other one contains. */
export function stateOf(
  serviceCidr: ServiceCIDR,
  others: readonly ServiceCIDR[],
  addresses: Iterable<string>,
): RangeState {
  if (serviceCidr.metadata.deletionTimestamp === undefined) return 'ready';
  const own = rangesOf(serviceCidr);
  const rest = others.filter(({ metadata }) => metadata.deletionTimestamp === undefined).flatMap(rangesOf);
  const isIn = (ranges: readonly AddressRange[], address: string) => ranges.some((range) => range.contains(address));
  for (const address of addresses) if (isIn(own, address) && !isIn(rest, address)) return 'inUse';
  return 'free';
}

/** Sets the condition Ready; returns the same list if it need not change. */
export function conditionsAfter(
  { status: before }: ServiceCIDR,
  state: RangeState,
  naming: NamingProfile,
  now: string,
): readonly Condition[] {
  const conditions = before?.conditions ?? [];
  const name = naming.serviceName;
  const wanted =
    state === 'ready'
      ? { status: 'True', reason: '', message: `${capitalized(name)} Service CIDR is ready` }
      : {
          status: 'False',
          reason: 'Terminating',
          message: 'addresses of it are in use; delete what has them, or make another range that they lie in',
        };
  const known = conditions.find(({ type }) => type === 'Ready');
  if (known?.status === wanted.status && (known.reason ?? '') === wanted.reason) return conditions;
  const { status, reason, message } = wanted;
  const others = conditions.filter(({ type }) => type !== 'Ready');
  return [...others, { type: 'Ready', status, lastTransitionTime: now, reason, message }];
}
