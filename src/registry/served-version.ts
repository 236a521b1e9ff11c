import { apiVersionOf } from '../machinery/gvk.js';
import type { KubeObject } from '../machinery/kube-object.js';
import type { ResourceDefinition } from './resource-definition.js';

/** An object as the version of the definition has it, as the one that is stored. */
export function toStored(definition: ResourceDefinition, object: KubeObject): KubeObject {
  const { hub } = definition;
  if (!hub) return object;
  const { kind } = definition;
  return { ...hub.toHub(object), kind, apiVersion: apiVersionOf(hub.stored.group, hub.stored.version) };
}

/** A stored object as the version of the definition has it. */
export function fromStored(definition: ResourceDefinition, object: KubeObject): KubeObject {
  const { hub, kind, group, version } = definition;
  return hub ? { ...hub.fromHub(object), kind, apiVersion: apiVersionOf(group, version) } : object;
}
