import { apiVersionOf } from '../../machinery/gvk.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { ResourceDefinition } from './resource-definition.js';

/** Converts an object from the served version to the storage version. */
export function toStorageVersion(definition: ResourceDefinition, object: KubeObject): KubeObject {
  const { hub } = definition;
  if (!hub) return object;
  const { kind } = definition;
  return { ...hub.toHub(object), kind, apiVersion: apiVersionOf(hub.stored.group, hub.stored.version) };
}

/** Converts an object from the storage version to the served version. */
export function toServedVersion(definition: ResourceDefinition, object: KubeObject): KubeObject {
  const { hub, kind, group, version } = definition;
  return hub ? { ...hub.fromHub(object), kind, apiVersion: apiVersionOf(group, version) } : object;
}
