import { createHash } from 'node:crypto';
import type { Lease } from '../../catalog/types/coordination.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { path } from '../../machinery/field-error.js';
import { apiVersionOf } from '../../machinery/gvk.js';
import { validateIp, validateReachableIp } from '../../machinery/ip-addresses.js';
import { microTime } from '../election/lease-record.js';

/** That of kube-apiserver: long enough that clients which list servers by their Leases do not miss a slow one. */
const leaseSeconds = 3600;
export const renewMs = 10_000;
/** Time after the last renewal of the Lease after which the address of a server is removed from Endpoints. */
export const renewalAgeMsMax = 15_000;

export interface Identity {
  readonly hostName: string;
  /** The address for other servers and Pods: `10.0.0.1:6443`. */
  readonly address: string;
  /** Different for each start. */
  readonly uuid: string;
}

export interface ServerAddress {
  readonly ip: string;
  readonly port: number;
}

export function leaseNameOf({ hostName, address }: Pick<Identity, 'hostName' | 'address'>): string {
  return `apiserver-${createHash('sha256').update(`${hostName} ${address}`).digest('hex').slice(0, 26)}`;
}

/** Label of the identity Leases of servers (KEP-1965). */
export function identityLabel(naming: NamingProfile): readonly [key: string, value: string] {
  return [naming.label('identity', 'apiserver'), naming.systemName('apiserver')];
}

export function identityLease(naming: NamingProfile, identity: Identity, nowMs: number): Lease {
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

/** Returns the address in a Lease; undefined if it has none, or one that is not allowed in Endpoints. */
export function addressOf(naming: NamingProfile, { metadata }: Lease): ServerAddress | undefined {
  const text = metadata.annotations?.[addressAnnotation(naming)] ?? '';
  const match = /^\[?([^\]]+)\]?:(\d{1,5})$/.exec(text);
  const address = match && { ip: match[1]!, port: Number(match[2]) };
  return address && isReachable(address) ? address : undefined;
}

/** True if the address is allowed in Endpoints: no loopback, link-local or unspecified address. */
export function isReachable({ ip, port }: ServerAddress): boolean {
  const problems = [...validateIp(ip), ...validateReachableIp(ip, path('ip'))];
  return problems.length === 0 && port >= 1 && port <= 65_535;
}

export function renewedMs({ spec }: Lease): number {
  return Date.parse(spec?.renewTime ?? '') || 0;
}

export function hasExpired(lease: Lease, nowMs: number): boolean {
  return renewedMs(lease) + (lease.spec?.leaseDurationSeconds ?? 0) * 1000 < nowMs;
}

const addressAnnotation = (naming: NamingProfile) => naming.label('peer-advertise-address');
