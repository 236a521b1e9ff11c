import type { Pod, PodSpec } from '../catalog/types/core.v1.js';
import type { GroupResource } from '../machinery/gvk.js';
import type { Mutable } from '../machinery/mutable.js';
import type { AdmissionOperation } from './admission-operation.js';
import type { AdmissionAttributes } from './admission-plugin.js';

/** Resources of plug-ins that are about Pods alone. */
export const onlyPods: readonly GroupResource[] = [{ group: '', resource: 'pods' }];

/** True for a write of the resource itself, or of the given subresource, by one of the operations. */
export function isAbout(
  { resource: written, subresource, operation }: AdmissionAttributes,
  group: string,
  resource: string,
  operations: readonly AdmissionOperation[],
  ofSubresource = '',
): boolean {
  return (
    written.group === group &&
    written.resource === resource &&
    subresource === ofSubresource &&
    operations.includes(operation)
  );
}

/** Returns the Pod that the request creates; undefined for any other request. */
export function newPodOf(attributes: AdmissionAttributes): Mutable<Pod> | undefined {
  return isAbout(attributes, '', 'pods', ['CREATE']) ? attributes.object : undefined;
}

/** Returns the Pod that the request creates or updates, not through a subresource; undefined for any other request. */
export function writtenPodOf(attributes: AdmissionAttributes): Mutable<Pod> | undefined {
  return isAbout(attributes, '', 'pods', ['CREATE', 'UPDATE']) ? attributes.object : undefined;
}

/** Returns a copy of the Pod's spec that has replaced it: the spec of an update may be that of the old Pod. */
export function changeableSpecOf(pod: Mutable<Pod>): Mutable<PodSpec> {
  return (pod.spec = { ...pod.spec });
}
