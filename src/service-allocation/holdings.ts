import type { Service, ServiceSpec } from '../catalog/types/core.v1.js';
import { allocatesNodePorts, hasClusterIp } from './service.types.js';
import { canonicalAddress } from './address-range.js';

/** Matches possible IP addresses. Objects that other servers stored may have other texts, which are ignored. */
const looksLikeAddress = /^[0-9a-fA-F]*[.:][0-9a-fA-F.:]*$/;

export const needsHealthCheck = ({ type, externalTrafficPolicy }: ServiceSpec): boolean =>
  type === 'LoadBalancer' && externalTrafficPolicy === 'Local';

/** The cluster IPs and node ports of a Service, which no other Service may have. */
export interface Holdings {
  /** In canonical form, as the names of IPAddress objects are. */
  readonly addresses: ReadonlySet<string>;
  readonly nodePorts: ReadonlySet<number>;
}

export function holdingsOf(service: Service | undefined): Holdings {
  const { spec = {} } = service ?? {};
  return { addresses: new Set(addressesIn(spec).map(canonicalAddress)), nodePorts: nodePortsIn(spec) };
}

function addressesIn(spec: ServiceSpec): string[] {
  if (!hasClusterIp(spec)) return [];
  return clusterIpsOf(spec).filter((ip) => looksLikeAddress.test(ip));
}

/** Returns clusterIPs, or clusterIP for a Service of an older release, which has only that field. */
export function clusterIpsOf({ clusterIPs: ips = [], clusterIP: first = '' }: ServiceSpec): readonly string[] {
  return ips.length > 0 || first === '' ? ips : [first];
}

export function nodePortsIn(spec: ServiceSpec): ReadonlySet<number> {
  const ports = allocatesNodePorts(spec) ? (spec.ports ?? []).map(({ nodePort = 0 }) => nodePort) : [];
  if (needsHealthCheck(spec)) ports.push(spec.healthCheckNodePort ?? 0);
  return new Set(ports.filter((port) => port !== 0));
}
