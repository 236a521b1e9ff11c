import type { VolumeAttributesClass } from '../../catalog/types/storage.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { required } from '../../machinery/field-rules.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateParameters, validateProvisioner } from './parameters.validation.js';

/** The attributes of volumes, which are immutable. */
export const volumeAttributesClassStrategy: Strategy<VolumeAttributesClass> = {
  validateName: nameIsDnsSubdomain,
  validateCreate: validateClass,
  validateUpdate: (attributesClass, old) =>
    fixedFields
      .filter((field) => !deepEqual(attributesClass[field] ?? {}, old[field] ?? {}))
      .map((field) => fieldError.forbidden(field, `updates to ${field} are forbidden.`)),
};

const fixedFields = ['driverName', 'parameters'] as const;

function validateClass({ driverName = '', parameters = {} }: VolumeAttributesClass): FieldError[] {
  const at = path('parameters');
  return [
    ...validateProvisioner(driverName, path('driverName')),
    ...(Object.keys(parameters).length === 0
      ? required(undefined, at, 'must contain at least one key/value pair')
      : validateParameters(parameters, at)),
  ];
}
