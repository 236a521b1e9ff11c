import { strictDecodingProblem, cannotBeHandled } from '../../codec/request-object.js';
import { ApiError } from '../../machinery/api-error.js';
import { boundedErrorsInSteps } from '../../machinery/error-budget.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { loopbackUser } from '../../machinery/user-info.js';
import type { Steps } from '../../std/steps.js';
import { fieldFindings } from '../../typed/field-findings.js';
import { toStorageVersion } from '../definition/served-version.js';
import type { ServedResource } from '../resource-registry.js';
import { validateNew } from './create.js';
import { submittedObject } from './submitted-object.js';
import { objectTime } from './system-fields.js';

/**
 * Reads an object that is not stored, for example of a file: in the storage version, with defaults, validated like a new
 * one. Throws ApiError, also for unknown fields.
 */
export function* unstoredObject(served: ServedResource, value: unknown): Steps<KubeObject> {
  const { definition, store, struct } = served;
  const { object: submitted, unknownFields } = submittedObject(value, definition, { type: struct });
  if (unknownFields.length > 0) {
    const problem = strictDecodingProblem(fieldFindings([], unknownFields));
    throw cannotBeHandled(definition, definition.kind, problem);
  }
  yield;
  const object = toStorageVersion(definition, submitted);
  store.fillDefaults(object);
  yield;
  const context = { user: loopbackUser, now: objectTime(store.dependencies.clock.now()) };
  const handwritten = yield* boundedErrorsInSteps(
    validateNew(object, definition.strategy, definition.namespaced, context),
  );
  const errors = store.mergeDeclaredErrors(object, undefined, handwritten);
  if (errors.length > 0) throw ApiError.invalid(definition, object.metadata.name ?? '', errors);
  yield;
  return store.canonical(object);
}
