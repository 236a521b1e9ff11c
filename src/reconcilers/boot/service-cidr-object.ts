import type { ServiceCIDR } from '../../catalog/types/networking.v1.js';
import type { ServerConfig } from '../../config/server-config.js';
import { apiVersionOf } from '../../machinery/gvk.js';
import { AddressRange } from '../../service-allocation/address-range.js';
import { serviceCidrStatusSubresource } from '../../modules/networking/service-cidr.strategy.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { updateObject } from '../../registry/write/update.js';
import { serviceCidrFinalizer } from '../../machinery/finalizers.js';
import { conditionsAfter } from '../service-cidr/decide.js';
import { bootContext, ensureObject } from './ensure-object.js';

/** Writes --service-cluster-ip-range as the ServiceCIDR `kubernetes`. A second IP family may be added to it later. */
export async function ensureServiceCidr({
  config,
  registry,
}: {
  readonly config: ServerConfig;
  readonly registry: ResourceRegistry;
}): Promise<void> {
  const { naming, network } = config;
  const group = naming.group('networking');
  const served = registry.find(group, 'v1', 'servicecidrs');
  if (served?.type !== 'stored') return;
  const { store } = served;
  const name = naming.serviceName;
  const cidrs = network.serviceClusterIpRanges.map((range) => new AddressRange(range).cidr);
  await ensureObject(registry, {
    group,
    resource: 'servicecidrs',
    keeps: [],
    object: {
      kind: 'ServiceCIDR',
      apiVersion: apiVersionOf(group, 'v1'),
      metadata: { name, finalizers: [serviceCidrFinalizer(naming)] },
      spec: { cidrs },
    },
  });
  const target = { namespace: '', name };
  const options = { requiresResourceVersion: false, createsMissing: false };
  const now = objectTime(store.dependencies.clock.now());
  const ready = (current: ServiceCIDR): ServiceCIDR => {
    const state = current.metadata.deletionTimestamp === undefined ? 'ready' : 'inUse';
    const conditions = conditionsAfter(current, state, naming, now);
    return { ...current, status: { ...current.status, conditions } };
  };
  const current = await updateObject(
    store,
    target,
    (it) => ready(it!),
    { ...options, subresource: serviceCidrStatusSubresource },
    bootContext(),
  );
  const written: ServiceCIDR = current.object;
  const known = written.spec?.cidrs ?? [];
  if (known.length === 1 && cidrs.length === 2 && known[0] === cidrs[0]) {
    await updateObject(store, target, (it) => ({ ...it!, spec: { cidrs } }), options, bootContext());
  }
}
