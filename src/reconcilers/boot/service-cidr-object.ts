import type { ServerConfig } from '../../config/server-config.js';
import { asFields, asTexts } from '../../machinery/fields.js';
import { apiVersionOf } from '../../machinery/gvk.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { AddressRange } from '../../service-allocation/address-range.js';
import { serviceCidrStatusSubresource } from '../../modules/networking/service-cidr.strategy.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import { objectTime } from '../../registry/write/system-fields.js';
import { updateObject } from '../../registry/write/update.js';
import { conditionsAfter, finalizerOf } from '../service-cidr/decide.js';
import { bootContext, ensureObject } from './ensure-object.js';

/** What the server was told of addresses for services, as an object; a second family may come later. */
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
  const cidrs = network.serviceClusterIpRanges.map((given) => new AddressRange(given).cidr);
  await ensureObject(registry, {
    group,
    resource: 'servicecidrs',
    keeps: [],
    object: {
      kind: 'ServiceCIDR',
      apiVersion: apiVersionOf(group, 'v1'),
      metadata: { name, finalizers: [finalizerOf(naming)] },
      spec: { cidrs },
    },
  });
  const target = { namespace: '', name };
  const options = { requiresResourceVersion: false, createsMissing: false };
  const now = objectTime(store.dependencies.clock.now());
  const ready = (current: KubeObject): KubeObject => {
    const standing = current.metadata.deletionTimestamp === undefined ? 'ready' : 'inUse';
    const conditions = conditionsAfter(current, standing, naming, now);
    return { ...current, status: { ...asFields(current['status']), conditions } };
  };
  const current = await updateObject(
    store,
    target,
    (it) => ready(it!),
    { ...options, subresource: serviceCidrStatusSubresource },
    bootContext(),
  );
  const known = asTexts(asFields(current.object['spec'])['cidrs']);
  if (known.length === 1 && cidrs.length === 2 && known[0] === cidrs[0]) {
    await updateObject(store, target, (it) => ({ ...it!, spec: { cidrs } }), options, bootContext());
  }
}
