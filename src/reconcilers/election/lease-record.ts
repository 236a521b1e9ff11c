import { asFields, asNumber, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';

/** What client-go writes into a Lease, so that its tools can read ours. */
export interface LeaseRecord {
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  readonly acquireTime: string;
  readonly renewTime: string;
  readonly leaseTransitions: number;
}

export function recordOf(lease: KubeObject): LeaseRecord {
  const spec = asFields(lease['spec']);
  return {
    holderIdentity: asText(spec['holderIdentity']),
    leaseDurationSeconds: asNumber(spec['leaseDurationSeconds']),
    acquireTime: asText(spec['acquireTime']),
    renewTime: asText(spec['renewTime']),
    leaseTransitions: asNumber(spec['leaseTransitions']),
  };
}

/** The record by which `identity` takes the lease, or goes on holding it. */
export function takenBy(
  identity: string,
  before: LeaseRecord | undefined,
  leaseDurationSeconds: number,
  now: string,
): LeaseRecord {
  const isHeld = before?.holderIdentity === identity;
  return {
    holderIdentity: identity,
    leaseDurationSeconds,
    acquireTime: isHeld ? before.acquireTime : now,
    renewTime: now,
    leaseTransitions: !before ? 0 : isHeld ? before.leaseTransitions : before.leaseTransitions + 1,
  };
}

/** Nobody holds it, and nobody has to wait. */
export function released(before: LeaseRecord, now: string): LeaseRecord {
  return { ...before, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
}

/** Times of a Lease have microseconds. */
export function microTime(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, -1)}000Z`;
}
