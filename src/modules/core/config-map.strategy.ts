import type { ConfigMap, Secret } from '../../catalog/types/core.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked } from '../../machinery/field-rules.js';
import { nameIsDnsSubdomain, validateConfigKey } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';

/** The maximum size of the data of a ConfigMap or Secret: every kubelet that mounts it keeps it in memory. */
export const dataBytesMax = 1024 * 1024;

export const configMapStrategy: Strategy<ConfigMap> = {
  validateName: nameIsDnsSubdomain,
  validateCreate: validateConfigMap,
  validateUpdate: (configMap, old) => [
    ...validateImmutable(configMap, old, ['data', 'binaryData']),
    ...validateConfigMap(configMap),
  ],
};

function validateConfigMap({ data = {}, binaryData = {} }: ConfigMap): FieldError[] {
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(data)) {
    const at = path('data').key(key);
    errors.push(...checked(key, at, validateConfigKey));
    if (Object.hasOwn(binaryData, key)) {
      errors.push(fieldError.invalid(at, key, 'duplicate of key present in binaryData'));
    }
    bytes += Buffer.byteLength(value);
  }
  for (const [key, value] of Object.entries(binaryData)) {
    errors.push(...checked(key, path('binaryData').key(key), validateConfigKey));
    bytes += Buffer.byteLength(value, 'base64');
  }
  // kube-apiserver reports the error at this path, since it is about both fields.
  if (bytes > dataBytesMax) errors.push(fieldError.tooLong('[]', dataBytesMax));
  return errors;
}

/** Validates an update: if `immutable` is true, neither it nor the data can change. */
export function validateImmutable<T extends ConfigMap | Secret>(
  object: T,
  old: T,
  fields: readonly (keyof T & string)[],
): FieldError[] {
  if (old.immutable !== true) return [];
  const refuse = (field: string) => fieldError.forbidden(field, 'field is immutable when `immutable` is set');
  const isChanged = (field: keyof T) => !deepEqual(object[field] ?? {}, old[field] ?? {});
  return [...(object.immutable === true ? [] : [refuse('immutable')]), ...fields.filter(isChanged).map(refuse)];
}
