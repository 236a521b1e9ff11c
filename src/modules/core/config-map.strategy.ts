import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked } from '../../machinery/field-rules.js';
import { asFields, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain, validateConfigKey } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';

/** Every pod that mounts one keeps it in memory, and so does every watcher. */
export const dataBytesMax = 1024 * 1024;

export const configMapStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  validateCreate: validateConfigMap,
  validateUpdate: (configMap, old) => [
    ...validateImmutable(configMap, old, ['data', 'binaryData']),
    ...validateConfigMap(configMap),
  ],
};

function validateConfigMap(configMap: KubeObject): FieldError[] {
  const binary = asFields(configMap['binaryData']);
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(asFields(configMap['data']))) {
    const at = path('data').key(key);
    errors.push(...checked(key, at, validateConfigKey));
    if (Object.hasOwn(binary, key))
      errors.push(fieldError.invalid(String(at), key, 'duplicate of key present in binaryData'));
    bytes += Buffer.byteLength(asText(value));
  }
  for (const [key, value] of Object.entries(binary)) {
    errors.push(...checked(key, path('binaryData').key(key), validateConfigKey));
    bytes += Buffer.byteLength(asText(value), 'base64');
  }
  // The size is the whole object's matter, so no field is named.
  if (bytes > dataBytesMax) errors.push(fieldError.tooLong('[]', dataBytesMax));
  return errors;
}

/** Once immutable, always immutable: neither the data nor the mark can be changed. */
export function validateImmutable(object: KubeObject, old: KubeObject, fields: readonly string[]): FieldError[] {
  if (old['immutable'] !== true) return [];
  const refuse = (field: string) => fieldError.forbidden(field, 'field is immutable when `immutable` is set');
  const isChanged = (field: string) => !deepEqual(asFields(object[field]), asFields(old[field]));
  return [...(object['immutable'] === true ? [] : [refuse('immutable')]), ...fields.filter(isChanged).map(refuse)];
}
