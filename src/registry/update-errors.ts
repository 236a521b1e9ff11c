import type { EncodedObject } from '../cache/encoded-object.js';
import { boundedErrors, boundedErrorsInSteps } from '../machinery/error-budget.js';
import type { FieldError } from '../machinery/field-error.js';
import type { KubeObject } from '../machinery/kube-object.js';
import { validateObjectMeta, validateObjectMetaUpdate } from '../machinery/object-meta-validation.js';
import { loopbackUser } from '../machinery/user-info.js';
import { atOnce, type Steps } from '../std/steps.js';
import type { LensSubresource, ResourceDefinition } from './resource-definition.js';
import type { ResourceStore } from './resource-store.js';
import type { Strategy, StrategyContext } from './strategy.js';
import { objectTime } from './system-fields.js';

interface UpdatedObject {
  readonly object: KubeObject;
  readonly old: KubeObject;
  readonly metaErrors: readonly FieldError[];
}

interface UpdateRules {
  readonly definition: ResourceDefinition;
  /** Of the version that the request is made in. */
  readonly strategy: Strategy;
  /** The subresource that is updated, if it is one. */
  readonly lens: LensSubresource | undefined;
}

/** Validates an update by the rules that are written by hand. ResourceStore.settle() adds those that the type declares. */
export function updateErrors(
  updated: UpdatedObject,
  rules: UpdateRules,
  context: StrategyContext,
): Steps<readonly FieldError[]> {
  return boundedErrorsInSteps(errorsOf(updated, rules, context));
}

function* errorsOf(
  { object, old, metaErrors }: UpdatedObject,
  { definition, strategy, lens }: UpdateRules,
  context: StrategyContext,
): Steps<readonly FieldError[]> {
  const errors = [
    ...metaErrors,
    ...validateObjectMeta(object.metadata, { ...strategy, namespaced: definition.namespaced }),
  ];
  yield;
  if (lens) return [...errors, ...(lens.validate?.(object, old, context) ?? [])];
  const own = strategy.validateInSteps
    ? yield* strategy.validateInSteps(object, old, context)
    : (strategy.validateUpdate?.(object, old, context) ?? []);
  return [...errors, ...own];
}

/**
 * Validates an update of a stored object that changes nothing: its errors refuse every update of the object until they are
 * corrected. Admission plug-ins and reservations are left out, and nothing is written.
 */
export function unchangedUpdateErrors(store: ResourceStore, encoded: EncodedObject): readonly FieldError[] {
  const { definition, parts } = store;
  const { strategy } = definition;
  const context = { user: loopbackUser, now: objectTime(parts.clock.now()) };
  const old = encoded.parse();
  const object = encoded.parse();
  const metaErrors = boundedErrors(() => validateObjectMetaUpdate(object.metadata, old.metadata));
  store.fillDefaults(object);
  strategy.prepareForUpdate?.(object, old, context);
  const byHand = atOnce(updateErrors({ object, old, metaErrors }, { definition, strategy, lens: undefined }, context));
  return store.settle(object, old, byHand);
}
