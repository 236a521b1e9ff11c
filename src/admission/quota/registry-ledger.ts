import type { ResourceQuota } from '../../catalog/types/core.v1.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { Revision } from '../../machinery/revision.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import type { ObjectReader } from '../object-reader.js';
import type { QuotaLedger } from './quota-ledger.js';
import type { Cancellation } from '../../std/cancellation.js';

const quotas = { group: '', resource: 'resourcequotas' };
/** Limit on remembered writes. They only save a read, so that forgetting them does no harm. */
const writtenMax = 1000;

/** Reads and charges quotas of the registry. status.used is written without admission, since admission computes it. */
export class RegistryLedger implements QuotaLedger {
  private readonly written = new Map<string, ResourceQuota>();

  constructor(
    private readonly registry: ResourceRegistry,
    private readonly objects: ObjectReader,
  ) {}

  quotas(namespace: string): readonly ResourceQuota[] {
    return this.objects.list(quotas, namespace);
  }

  latestKnown(quota: ResourceQuota): ResourceQuota {
    const written = this.written.get(quota.metadata.uid ?? '');
    if (!written) return quota;
    if (revisionOf(written) > revisionOf(quota)) return written;
    this.written.delete(quota.metadata.uid ?? '');
    return quota;
  }

  async latest({ metadata }: ResourceQuota, signal: Cancellation | undefined): Promise<ResourceQuota | undefined> {
    const { encoded } = await this.store.storedCurrent(this.store.keyOf(metadata.namespace!, metadata.name!), {
      signal,
    });
    return encoded?.parse();
  }

  async charge(quota: ResourceQuota, used: Record<string, string>, signal: Cancellation | undefined): Promise<boolean> {
    const { store } = this;
    const { namespace = '', name = '', uid = '' } = quota.metadata;
    const next = store.canonical({ ...quota, status: { ...quota.status, used } });
    const key = store.keyOf(namespace, name);
    const stored = store.cache.get(key);
    if (stored) store.checkRewritable(stored);
    const result = await store.commit({ type: 'put', key, value: store.codec.encode(next, key) }, revisionOf(quota), {
      signal,
    });
    if ('newer' in result) return false;
    if (this.written.size >= writtenMax) this.written.clear();
    this.written.set(uid, { ...next, metadata: { ...next.metadata, resourceVersion: String(result.revision) } });
    return true;
  }

  private get store() {
    return this.registry.require('', 'v1', quotas.resource).store;
  }
}

function revisionOf({ metadata }: Pick<KubeObject, 'metadata'>): Revision {
  return Number(metadata.resourceVersion) as Revision;
}
