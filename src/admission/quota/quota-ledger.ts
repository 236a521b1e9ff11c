import type { KubeObject } from '../../machinery/kube-object.js';

/** Where quotas are kept. The one place of admission that writes. */
export interface QuotaLedger {
  /** Those of a namespace as the cache has them. */
  quotas(namespace: string): readonly KubeObject[];
  /** The same quota as it was last written here, where the cache has not seen that yet. */
  latestKnown(quota: KubeObject): KubeObject;
  /** One as it is stored; undefined when it is gone. */
  latest(quota: KubeObject, signal: AbortSignal | undefined): Promise<KubeObject | undefined>;
  /** Writes what is used, if nobody else changed the quota meanwhile: false then. */
  charge(quota: KubeObject, used: Record<string, string>, signal: AbortSignal | undefined): Promise<boolean>;
}
