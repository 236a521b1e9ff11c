import type { Lease } from '../../catalog/types/coordination.v1.js';

/** The fields of a Lease that leader election of client-go writes. */
export interface LeaseRecord {
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  readonly acquireTime: string;
  readonly renewTime: string;
  readonly leaseTransitions: number;
}

export function recordOf({ spec = {} }: Lease): LeaseRecord {
  const {
    holderIdentity = '',
    leaseDurationSeconds = 0,
    acquireTime = '',
    renewTime = '',
    leaseTransitions = 0,
  } = spec;
  return { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions };
}

/** The record with which `identity` acquires or renews the Lease. */
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

/** The record without a holder, which any server may acquire at once. */
export function released(before: LeaseRecord, now: string): LeaseRecord {
  return { ...before, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
}

/** Formats a time with microseconds, as Leases have it. */
export function microTime(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, -1)}000Z`;
}
