import type { Scale as ScaleObject } from '../../catalog/types/autoscaling.v1.js';
import { controllerOf, type KubeObject, type OwnerReference } from '../../machinery/kube-object.js';
import { parseApiVersion } from '../../machinery/gvk.js';
import { subresourceOf } from '../../registry/definition/resource-definition.js';
import type { ResourceRegistry, ServedResource } from '../../registry/resource-registry.js';
import type { Scale, ScaleOf } from './decide.js';

/**
 * Finds scales in the caches by the scale subresource of the controller of a Pod, of a built-in or custom kind. A
 * ReplicaSet of a Deployment has the Deployment's scale, which stays the same during a rollout.
 */
export function scalesIn(registry: ResourceRegistry, namespace: string): ScaleOf {
  return (controller) => {
    const found = find(registry, namespace, controller);
    if (!found) return undefined;
    const owner = controllerOf(found.object);
    if (isOneOf(controller, 'ReplicaSet') && owner && isOneOf(owner, 'Deployment')) {
      const deployment = find(registry, namespace, owner);
      if (deployment) return scaleOf(deployment);
    }
    return scaleOf(found);
  };
}

interface Found {
  readonly served: ServedResource;
  readonly object: KubeObject;
}

function find(registry: ResourceRegistry, namespace: string, owner: OwnerReference): Found | undefined {
  const { group, version } = parseApiVersion(owner.apiVersion) ?? { group: '', version: '' };
  // Owner references of old objects may name the former group of Deployments and ReplicaSets.
  const served = servedKind(registry, group === 'extensions' ? 'apps' : group, version, owner.kind);
  if (!served) throw new Error(`no matches for kind "${owner.kind}" in version "${owner.apiVersion}"`);
  const { store, definition } = served;
  const encoded = store.cache.get(store.keyOf(definition.namespaced ? namespace : '', owner.name));
  if (!encoded || encoded.corruption) return undefined;
  const object = encoded.parse();
  return object.metadata.uid === owner.uid ? { served, object } : undefined;
}

/** The resource in the named version, else in any version that is served: all versions have the same objects. */
function servedKind(registry: ResourceRegistry, group: string, version: string, kind: string) {
  const ofKind = registry
    .storedResources()
    .filter(({ definition }) => definition.group === group && definition.kind === kind);
  return ofKind.find(({ definition }) => definition.version === version) ?? ofKind[0];
}

function scaleOf({ served: { definition, store }, object }: Found): Scale {
  // Objects in the cache are of the storage version, so its definition comes first.
  const scale = subresourceOf(store.definition, 'scale') ?? subresourceOf(definition, 'scale');
  if (scale?.type !== 'view' || !scale.view) {
    const resource = definition.group === '' ? definition.plural : `${definition.plural}.${definition.group}`;
    throw new Error(`${resource} does not implement the scale subresource`);
  }
  const view: ScaleObject = scale.view(object);
  return { uid: object.metadata.uid ?? '', replicas: view.spec?.replicas ?? 0 };
}

function isOneOf({ apiVersion, kind }: OwnerReference, wanted: string): boolean {
  const group = parseApiVersion(apiVersion)?.group ?? '';
  return kind === wanted && (group === 'apps' || group === 'extensions');
}
