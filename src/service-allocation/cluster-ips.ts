import type { ServiceSpec } from '../catalog/types/core.v1.js';
import type { Mutable } from '../machinery/mutable.js';
import { hasClusterIp } from './service.types.js';
import type { IpFamily } from './address-range.js';
import { clusterIpsOf } from './holdings.js';
import { keepsFamilies } from './ip-families.js';

interface AddressToAllocate {
  /** The index in clusterIPs. */
  readonly index: number;
  readonly family: IpFamily;
  /** The address that the client requests; '' for any. */
  readonly requested: string;
}

/** Returns the cluster IPs to allocate for a Service with complete ipFamilies. It keeps those that it already has. */
export function addressesToAllocate(spec: ServiceSpec, before: ServiceSpec | undefined): AddressToAllocate[] {
  const { clusterIPs: ips = [], ipFamilies = [] } = spec;
  if (!hasClusterIp(spec) || ips[0] === 'None' || keepsFamilies(spec, before)) return [];
  const allocated = before && hasClusterIp(before) ? clusterIpsOf(before) : [];
  if (allocated[0] === 'None') return [];
  return (ipFamilies as readonly IpFamily[])
    .map((family, index) => ({ index, family, requested: ips[index] ?? '' }))
    .slice(allocated.length);
}

/** Sets a cluster IP in clusterIPs, and in clusterIP if it is the first. */
export function setClusterIp(spec: Mutable<ServiceSpec>, index: number, address: string): void {
  const ips = [...(spec.clusterIPs ?? [])];
  ips[index] = address;
  spec.clusterIPs = ips;
  if (index === 0) spec.clusterIP = address;
}
