import type { KubeObject } from '../../machinery/kube-object.js';
import type { Revision } from '../../machinery/revision.js';
import { asFields } from '../../machinery/fields.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import type { ObjectReader } from '../object-reader.js';
import type { QuotaLedger } from './quota-ledger.js';

const quotas = { group: '', resource: 'resourcequotas' };

/** Quotas as objects of the registry. What is used is written past admission: it is admission that writes it. */
export class RegistryLedger implements QuotaLedger {
  constructor(
    private readonly registry: ResourceRegistry,
    private readonly objects: ObjectReader,
  ) {}

  quotas(namespace: string): readonly KubeObject[] {
    return this.objects.list(quotas, namespace);
  }

  async latest({ metadata }: KubeObject, signal: AbortSignal | undefined): Promise<KubeObject | undefined> {
    const { encoded } = await this.store.storedCurrent(this.store.keyOf(metadata.namespace!, metadata.name!), signal);
    return encoded?.parse();
  }

  async charge(quota: KubeObject, used: Record<string, string>, signal: AbortSignal | undefined): Promise<boolean> {
    const { store } = this;
    const { namespace = '', name = '', resourceVersion } = quota.metadata;
    const next = store.canonical({ ...quota, status: { ...asFields(quota['status']), used } });
    const key = store.keyOf(namespace, name);
    const written = await store.commit(
      { type: 'put', key, value: store.codec.encode(next) },
      Number(resourceVersion) as Revision,
      signal,
    );
    return 'revision' in written;
  }

  private get store() {
    return this.registry.require('', 'v1', quotas.resource).store;
  }
}
