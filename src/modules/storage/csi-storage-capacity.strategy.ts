import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked } from '../../machinery/field-rules.js';
import { asText } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { isNegative } from '../core/pod/pod-resources.js';
import { validateLabelSelectorObject } from '../core/selector.validation.js';

export const csiStorageCapacityStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  validateCreate: validateCapacity,
  /** Where and for which class is said once; how much there is changes. */
  validateUpdate: (capacity, old) => [
    ...validateCapacity(capacity),
    ...['nodeTopology', 'storageClassName'].flatMap((field) => immutable(capacity[field], old[field], path(field))),
  ],
};

function validateCapacity(capacity: KubeObject): FieldError[] {
  return [
    ...validateLabelSelectorObject(capacity['nodeTopology'], path('nodeTopology')),
    ...checked(asText(capacity['storageClassName']), path('storageClassName'), nameIsDnsSubdomain),
    ...['capacity', 'maximumVolumeSize'].flatMap((field) =>
      isNegative(capacity[field])
        ? [fieldError.invalid(field, capacity[field], 'must be greater than or equal to 0')]
        : [],
    ),
  ];
}
