import { createHash } from 'node:crypto';
import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, asNumber, asText } from '../../machinery/fields.js';
import { path } from '../../machinery/field-error.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { apiVersionOf } from '../../machinery/gvk.js';
import { validateIp, validateReachableIp } from '../../machinery/ip-addresses.js';
import { microTime } from '../election/lease-record.js';

/** As long as the reference's: whoever reads leases to learn which servers there are must not miss one that is slow. */
export const leaseSeconds = 3600;
export const renewMs = 10_000;
/** A server that has not renewed its lease for so long gets no more connections from Pods. */
export const silenceMsMax = 15_000;

export interface Identity {
  readonly hostName: string;
  /** `10.0.0.1:6443`: where other servers and Pods reach it. */
  readonly address: string;
  /** Another one for every start. */
  readonly uuid: string;
}

export interface ServerAddress {
  readonly ip: string;
  readonly port: number;
}

export function leaseNameOf({ hostName, address }: Pick<Identity, 'hostName' | 'address'>): string {
  return `apiserver-${createHash('sha256').update(`${hostName} ${address}`).digest('hex').slice(0, 26)}`;
}

/** Labels by which the leases of servers are found (KEP-1965). */
export function identityLabel(naming: NamingProfile): readonly [key: string, value: string] {
  return [naming.label('identity', 'apiserver'), naming.systemName('apiserver')];
}

export function identityLease(naming: NamingProfile, identity: Identity, nowMs: number): KubeObject {
  const [key, value] = identityLabel(naming);
  const name = leaseNameOf(identity);
  return {
    kind: 'Lease',
    apiVersion: apiVersionOf(naming.group('coordination'), 'v1'),
    metadata: {
      name,
      namespace: naming.systemNamespace('system'),
      labels: { [key]: value, [naming.label('hostname')]: identity.hostName },
      annotations: { [addressAnnotation(naming)]: identity.address },
    },
    spec: {
      holderIdentity: `${name}_${identity.uuid}`,
      leaseDurationSeconds: leaseSeconds,
      renewTime: microTime(nowMs),
    },
  };
}

/** Undefined for a Lease without an address that Endpoints may hold: it is of another program, or of a misled server. */
export function addressOf(naming: NamingProfile, lease: KubeObject): ServerAddress | undefined {
  const text = asText(lease.metadata.annotations?.[addressAnnotation(naming)]);
  const match = /^\[?([^\]]+)\]?:(\d{1,5})$/.exec(text);
  const address = match && { ip: match[1]!, port: Number(match[2]) };
  return address && isReachable(address) ? address : undefined;
}

/** True if Endpoints may hold the address: no loopback, link-local or unspecified one. */
export function isReachable({ ip, port }: ServerAddress): boolean {
  const problems = [...validateIp(ip), ...validateReachableIp(ip, path('ip'))];
  return problems.length === 0 && port >= 1 && port <= 65_535;
}

export function renewedMs(lease: KubeObject): number {
  return Date.parse(asText(asFields(lease['spec'])['renewTime'])) || 0;
}

export function hasExpired(lease: KubeObject, nowMs: number): boolean {
  return renewedMs(lease) + asNumber(asFields(lease['spec'])['leaseDurationSeconds']) * 1000 < nowMs;
}

const addressAnnotation = (naming: NamingProfile) => naming.label('peer-advertise-address');
