import type { AdmissionAttributes, AdmissionOperation } from './admission-plugin.js';

export function isAbout(
  attributes: AdmissionAttributes,
  group: string,
  resource: string,
  operations: readonly AdmissionOperation[],
): boolean {
  const { resource: of, subresource, operation } = attributes;
  return of.group === group && of.resource === resource && subresource === '' && operations.includes(operation);
}

/** The Pod that is made, or undefined when the write is about something else. */
export function newPodOf(attributes: AdmissionAttributes): AdmissionAttributes['object'] {
  return isAbout(attributes, '', 'pods', ['CREATE']) ? attributes.object : undefined;
}
