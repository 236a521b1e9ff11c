import type { Pod } from '../catalog/types/core.v1.js';
import type { Mutable } from '../machinery/mutable.js';
import type { AdmissionAttributes, AdmissionOperation } from './admission-plugin.js';

/** True for a write of the resource itself, not of a subresource, by one of the operations. */
export function isAbout(
  attributes: AdmissionAttributes,
  group: string,
  resource: string,
  operations: readonly AdmissionOperation[],
): boolean {
  const { resource: written, subresource, operation } = attributes;
  return (
    written.group === group && written.resource === resource && subresource === '' && operations.includes(operation)
  );
}

/** Returns the Pod that the request creates; undefined for any other request. */
export function newPodOf(attributes: AdmissionAttributes): Mutable<Pod> | undefined {
  return isAbout(attributes, '', 'pods', ['CREATE']) ? attributes.object : undefined;
}
