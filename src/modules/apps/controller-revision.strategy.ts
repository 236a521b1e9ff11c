import type { ControllerRevision } from '../../catalog/types/apps.v1.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { notNegative } from '../../machinery/field-rules.js';
import { isSet } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';

/** A ControllerRevision is an earlier state of a workload, for rollbacks: its data is immutable, its revision is not. */
export const controllerRevisionStrategy: Strategy<ControllerRevision> = {
  validateName: nameIsDnsSubdomain,
  default(revision) {
    revision.revision ??= 0;
  },
  validateCreate: validateRevision,
  validateUpdate: (revision, old) => [
    ...validateRevision(revision),
    ...immutable(revision.data, old.data, path('data')),
  ],
};

function validateRevision({ data, revision }: ControllerRevision): FieldError[] {
  return [
    ...(isSet(data) ? [] : [fieldError.required('data', 'data is mandatory')]),
    ...notNegative(revision, path('revision')),
  ];
}
