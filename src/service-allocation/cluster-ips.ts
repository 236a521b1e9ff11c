import { asTexts, type Fields } from '../machinery/fields.js';
import { hasClusterIp } from './service.types.js';
import type { IpFamily } from './address-range.js';
import { clusterIpsOf } from './holdings.js';
import { isSettled } from './ip-families.js';

export interface WantedAddress {
  readonly index: number;
  readonly family: IpFamily;
  /** The one that is asked for; '' is any. */
  readonly asked: string;
}

/** The addresses that a service is to be given, its families being complete. Those that it had are not among them. */
export function wantedAddresses(spec: Fields, before: Fields | undefined): WantedAddress[] {
  const ips = asTexts(spec['clusterIPs']);
  if (!hasClusterIp(spec) || ips[0] === 'None' || isSettled(spec, before)) return [];
  const had = before && hasClusterIp(before) ? clusterIpsOf(before) : [];
  if (had[0] === 'None') return [];
  return (asTexts(spec['ipFamilies']) as IpFamily[])
    .map((family, index) => ({ index, family, asked: ips[index] ?? '' }))
    .slice(had.length);
}

/** The first address and the list of all are one thing said twice. */
export function putAddress(spec: Fields, index: number, address: string): void {
  const ips = asTexts(spec['clusterIPs']);
  ips[index] = address;
  spec['clusterIPs'] = ips;
  if (index === 0) spec['clusterIP'] = address;
}
