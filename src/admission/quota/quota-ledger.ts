import type { ResourceQuota } from '../../catalog/types/core.v1.js';
import type { Cancellation } from '../../std/cancellation.js';

/** Reads and charges ResourceQuotas: the only writes that admission makes. */
export interface QuotaLedger {
  /** The cached quotas of a namespace. */
  quotas(namespace: string): readonly ResourceQuota[];
  /** Returns what this process last wrote to the quota if the cache has not seen it yet, else the same quota. */
  latestKnown(quota: ResourceQuota): ResourceQuota;
  /** Reads the quota from the store; undefined if it is gone. */
  latest(quota: ResourceQuota, signal: Cancellation | undefined): Promise<ResourceQuota | undefined>;
  /** Writes status.used if the stored quota still has this resourceVersion; returns false otherwise. */
  charge(quota: ResourceQuota, used: Record<string, string>, signal: Cancellation | undefined): Promise<boolean>;
}
