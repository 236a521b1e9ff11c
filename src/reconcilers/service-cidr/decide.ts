import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, asItems, asText, asTexts, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { AddressRange } from '../../service-allocation/address-range.js';

export const finalizerOf = (naming: NamingProfile): string => `${naming.group('networking')}/service-cidr-finalizer`;

/** What others see of a range: whether addresses are taken from it. */
export type Standing = 'ready' | 'inUse' | 'free';

export const rangesOf = (serviceCidr: KubeObject): AddressRange[] =>
  asTexts(asFields(serviceCidr['spec'])['cidrs']).map((cidr) => new AddressRange(cidr));

/** A range that is deleted stays for as long as addresses are taken that lie in no other one. */
export function standingOf(
  serviceCidr: KubeObject,
  others: readonly KubeObject[],
  addresses: Iterable<string>,
): Standing {
  if (serviceCidr.metadata.deletionTimestamp === undefined) return 'ready';
  const own = rangesOf(serviceCidr);
  const rest = others.filter(({ metadata }) => metadata.deletionTimestamp === undefined).flatMap(rangesOf);
  const isIn = (ranges: readonly AddressRange[], address: string) => ranges.some((range) => range.contains(address));
  for (const address of addresses) if (isIn(own, address) && !isIn(rest, address)) return 'inUse';
  return 'free';
}

/** The conditions with what is true of the range; the same array when that is so already. */
export function conditionsAfter(
  serviceCidr: KubeObject,
  standing: Standing,
  naming: NamingProfile,
  now: string,
): Fields[] {
  const conditions = asItems(asFields(serviceCidr['status'])['conditions']);
  const name = naming.serviceName;
  const wanted =
    standing === 'ready'
      ? { status: 'True', reason: '', message: `${name[0]!.toUpperCase()}${name.slice(1)} Service CIDR is ready` }
      : {
          status: 'False',
          reason: 'Terminating',
          message: 'addresses of it are in use; delete what has them, or make another range that they lie in',
        };
  const known = conditions.find(({ type }) => type === 'Ready');
  if (known?.['status'] === wanted.status && asText(known['reason']) === wanted.reason) return conditions;
  const { status, reason, message } = wanted;
  const others = conditions.filter(({ type }) => type !== 'Ready');
  return [...others, { type: 'Ready', status, lastTransitionTime: now, reason, message }];
}
