import { asFields, asItems, asNumber, asText, asTexts, type Fields } from '../machinery/fields.js';
import type { KubeObject } from '../machinery/kube-object.js';
import { allocatesNodePorts, hasClusterIp } from './service.types.js';
import { canonicalAddress } from './address-range.js';

/** Texts in front of which everything is checked may still be no addresses in objects that others stored. */
const looksLikeAddress = /^[0-9a-fA-F]*[.:][0-9a-fA-F.:]*$/;

export const needsHealthCheck = (spec: Fields): boolean =>
  spec['type'] === 'LoadBalancer' && spec['externalTrafficPolicy'] === 'Local';

/** What a service has that no other may have. */
export interface Holdings {
  /** As they are named in objects of their own. */
  readonly addresses: ReadonlySet<string>;
  readonly nodePorts: ReadonlySet<number>;
}

export function holdingsOf(service: KubeObject | undefined): Holdings {
  const spec = asFields(service?.['spec']);
  return { addresses: new Set(addressesIn(spec).map(canonicalAddress)), nodePorts: new Set(nodePortsIn(spec)) };
}

export function addressesIn(spec: Fields): string[] {
  if (!hasClusterIp(spec)) return [];
  return clusterIpsOf(spec).filter((ip) => looksLikeAddress.test(ip));
}

/** Old services have but the first of them, in a field of its own. */
export function clusterIpsOf(spec: Fields): string[] {
  const ips = asTexts(spec['clusterIPs']);
  const first = asText(spec['clusterIP']);
  return ips.length > 0 || first === '' ? ips : [first];
}

function nodePortsIn(spec: Fields): number[] {
  const ports = allocatesNodePorts(spec) ? asItems(spec['ports']).map((port) => asNumber(port['nodePort'])) : [];
  if (needsHealthCheck(spec)) ports.push(asNumber(spec['healthCheckNodePort']));
  return ports.filter((port) => port !== 0);
}
