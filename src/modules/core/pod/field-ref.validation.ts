import { fieldError, type FieldError, type FieldPath } from '../../../machinery/field-error.js';
import { checked, oneOf, required } from '../../../machinery/field-rules.js';
import { asText, type Fields } from '../../../machinery/fields.js';
import { validateQualifiedName } from '../../../machinery/names.js';

/** What a container may be told of its own pod, by variables and by files. */
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
export const fieldsOfVolumes = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];
/** Every field of a pod that has a name in such references, whether or not it may be used in this place. */
const knownFields = new Set([
  ...fieldsOfVariables,
  ...fieldsOfVolumes,
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);

export function validateFieldRef(ref: Fields, at: FieldPath, supported: readonly string[]): FieldError[] {
  const errors = required(ref['apiVersion'], at.child('apiVersion'));
  const fieldPath = asText(ref['fieldPath']);
  if (fieldPath === '') return [...errors, fieldError.required(String(at.child('fieldPath')))];
  const apiVersion = asText(ref['apiVersion']);
  if (apiVersion !== '' && apiVersion !== 'v1') {
    const message = `error converting fieldPath: unsupported pod version: ${apiVersion}`;
    return [...errors, fieldError.invalid(String(at.child('fieldPath')), fieldPath, message)];
  }
  const keyed = /^(metadata\.(?:annotations|labels))\['(.*)'\]$/.exec(fieldPath);
  if (keyed) {
    const key = keyed[1] === 'metadata.annotations' ? keyed[2]!.toLowerCase() : keyed[2]!;
    return [...errors, ...checked(key, at, validateQualifiedName)];
  }
  if (!knownFields.has(fieldPath)) {
    const message = `error converting fieldPath: field label not supported: ${fieldPath}`;
    return [...errors, fieldError.invalid(String(at.child('fieldPath')), fieldPath, message)];
  }
  return [...errors, ...oneOf(fieldPath, at.child('fieldPath'), supported)];
}

const resourceFields = ['cpu', 'ephemeral-storage', 'memory']
  .flatMap((name) => [`limits.${name}`, `requests.${name}`])
  .sort();

export function validateResourceFieldRef(ref: Fields, at: FieldPath, needsContainer: boolean): FieldError[] {
  const resource = asText(ref['resource']);
  if (needsContainer && asText(ref['containerName']) === '')
    return [fieldError.required(String(at.child('containerName')))];
  if (resource === '') return [fieldError.required(String(at.child('resource')))];
  if (/^(limits|requests)\.hugepages-/.test(resource)) return [];
  return oneOf(resource, at.child('resource'), resourceFields);
}
