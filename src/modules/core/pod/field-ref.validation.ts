import type { ObjectFieldSelector, ResourceFieldSelector } from '../../../catalog/types/core.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { checked, oneOf, required } from '../../../machinery/field-rules.js';
import { validateQualifiedName } from '../../../machinery/names.js';

/** Pod fields that environment variables of a container may refer to. */
export const fieldsOfVariables = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
/** Pod fields that files of a downwardAPI volume may refer to. */
export const fieldsOfVolumes = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];
/** Fields that any fieldPath may name. A fieldPath that names another one has an error of its own. */
const knownFields = new Set([
  ...fieldsOfVariables,
  ...fieldsOfVolumes,
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);

export function validateFieldRef(
  { apiVersion = '', fieldPath = '' }: ObjectFieldSelector,
  at: FieldPath,
  supported: readonly string[],
): FieldError[] {
  const errors = required(apiVersion, at.child('apiVersion'));
  const pathAt = at.child('fieldPath');
  if (fieldPath === '') return [...errors, fieldError.required(pathAt)];
  if (apiVersion !== '' && apiVersion !== 'v1') {
    const message = `error converting fieldPath: unsupported pod version: ${apiVersion}`;
    return [...errors, fieldError.invalid(pathAt, fieldPath, message)];
  }
  const keyed = /^(metadata\.(?:annotations|labels))\['(.*)'\]$/.exec(fieldPath);
  if (keyed) {
    const key = keyed[1] === 'metadata.annotations' ? keyed[2]!.toLowerCase() : keyed[2]!;
    return [...errors, ...checked(key, at, validateQualifiedName)];
  }
  if (!knownFields.has(fieldPath)) {
    const message = `error converting fieldPath: field label not supported: ${fieldPath}`;
    return [...errors, fieldError.invalid(pathAt, fieldPath, message)];
  }
  return [...errors, ...oneOf(fieldPath, pathAt, supported)];
}

const resourceFields = ['cpu', 'ephemeral-storage', 'memory']
  .flatMap((name) => [`limits.${name}`, `requests.${name}`])
  .sort();

export function validateResourceFieldRef(
  { containerName = '', resource = '' }: ResourceFieldSelector,
  at: FieldPath,
  needsContainer: boolean,
): FieldError[] {
  if (needsContainer && containerName === '') return [fieldError.required(at.child('containerName'))];
  if (resource === '') return [fieldError.required(at.child('resource'))];
  if (/^(limits|requests)\.hugepages-/.test(resource)) return [];
  return oneOf(resource, at.child('resource'), resourceFields);
}
