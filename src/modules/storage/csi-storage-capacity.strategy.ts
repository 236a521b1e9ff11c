import type { CSIStorageCapacity } from '../../catalog/types/storage.v1.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked } from '../../machinery/field-rules.js';
import { immutable } from '../../machinery/immutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { isNegative } from '../core/pod/pod-resources.js';
import { validateLabelSelectorObject } from '../core/selector.validation.js';

/** The capacity of a StorageClass in a part of the cluster; the class and the topology are immutable. */
export const csiStorageCapacityStrategy: Strategy<CSIStorageCapacity> = {
  validateName: nameIsDnsSubdomain,
  validateCreate: validateCapacity,
  validateUpdate: (capacity, old) => [
    ...validateCapacity(capacity),
    ...immutable(capacity.nodeTopology, old.nodeTopology, path('nodeTopology')),
    ...immutable(capacity.storageClassName, old.storageClassName, path('storageClassName')),
  ],
};

const amountFields = ['capacity', 'maximumVolumeSize'] as const;

function validateCapacity(capacity: CSIStorageCapacity): FieldError[] {
  return [
    ...validateLabelSelectorObject(capacity.nodeTopology, path('nodeTopology')),
    ...checked(capacity.storageClassName ?? '', path('storageClassName'), nameIsDnsSubdomain),
    ...amountFields.flatMap((field) =>
      isNegative(capacity[field])
        ? [fieldError.invalid(field, capacity[field], 'must be greater than or equal to 0')]
        : [],
    ),
  ];
}
