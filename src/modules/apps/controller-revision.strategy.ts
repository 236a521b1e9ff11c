import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { notNegative } from '../../machinery/field-rules.js';
import { fillIn, isSet } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/strategy.js';

/** A state that a workload was in, to go back to: what it holds never changes, only its place in the order. */
export const controllerRevisionStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  default: (revision) => fillIn(revision, 'revision', 0),
  validateCreate: validateRevision,
  validateUpdate: (revision, old) => [
    ...validateRevision(revision),
    ...immutable(revision['data'], old['data'], path('data')),
  ],
};

function validateRevision(revision: KubeObject): FieldError[] {
  return [
    ...(isSet(revision['data']) ? [] : [fieldError.required('data', 'data is mandatory')]),
    ...notNegative(revision['revision'], path('revision')),
  ];
}
