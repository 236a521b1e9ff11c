import type { KubeObject, OwnerReference } from '../../machinery/kube-object.js';
import { parseApiVersion } from '../../machinery/gvk.js';
import { asFields, asNumber } from '../../machinery/fields.js';
import type { ResourceRegistry, ServedResource } from '../../registry/resource-registry.js';
import type { Scale, ScaleOf } from './decide.js';

/**
 * Finds scales in the caches, by the scale subresource of whatever controls a Pod: built-in and custom kinds alike. A
 * ReplicaSet of a Deployment has the Deployment's scale, which stays the same while two ReplicaSets take turns.
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
  // Old objects may name the group that Deployments and ReplicaSets came from.
  const served = servedKind(registry, group === 'extensions' ? 'apps' : group, version, owner.kind);
  if (!served) throw new Error(`no matches for kind "${owner.kind}" in version "${owner.apiVersion}"`);
  const { store, definition } = served;
  const encoded = store.cache.get(store.keyOf(definition.namespaced ? namespace : '', owner.name));
  if (!encoded || encoded.corruption) return undefined;
  const object = encoded.parse();
  return object.metadata.uid === owner.uid ? { served, object } : undefined;
}

/** In the version that is named, else in any that is served: all have the same objects. */
function servedKind(registry: ResourceRegistry, group: string, version: string, kind: string) {
  const ofKind = registry
    .storedResources()
    .filter(({ definition }) => definition.group === group && definition.kind === kind);
  return ofKind.find(({ definition }) => definition.version === version) ?? ofKind[0];
}

function scaleOf({ served: { definition, store }, object }: Found): Scale {
  // Objects in the cache are in the stored version: its definition reads them.
  const scale = store.definition.subresources['scale'] ?? definition.subresources['scale'];
  if (scale?.type !== 'view' || !scale.view) {
    const resource = definition.group === '' ? definition.plural : `${definition.plural}.${definition.group}`;
    throw new Error(`${resource} does not implement the scale subresource`);
  }
  const view = scale.view(object);
  return { uid: object.metadata.uid ?? '', replicas: asNumber(asFields(view['spec'])['replicas']) };
}

function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find((owner) => owner.controller === true);
}

function isOneOf({ apiVersion, kind }: OwnerReference, wanted: string): boolean {
  const group = parseApiVersion(apiVersion)?.group ?? '';
  return kind === wanted && (group === 'apps' || group === 'extensions');
}
