import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { required } from '../../machinery/field-rules.js';
import { asFields, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateParameters, validateProvisioner } from './parameters.validation.js';

export const volumeAttributesClassStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  validateCreate: validateClass,
  /** Volumes have it already: it stays what it is. */
  validateUpdate: (attributesClass, old) =>
    ['driverName', 'parameters']
      .filter((field) => !deepEqual(attributesClass[field] ?? {}, old[field] ?? {}))
      .map((field) => fieldError.forbidden(field, `updates to ${field} are forbidden.`)),
};

function validateClass(attributesClass: KubeObject): FieldError[] {
  const { parameters } = attributesClass;
  const at = path('parameters');
  return [
    ...validateProvisioner(asText(attributesClass['driverName']), path('driverName')),
    ...(Object.keys(asFields(parameters)).length === 0
      ? required(undefined, at, 'must contain at least one key/value pair')
      : validateParameters(parameters, at)),
  ];
}
