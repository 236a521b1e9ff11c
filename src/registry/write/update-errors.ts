import type { EncodedObject } from '../../cache/encoded-object.js';
import { boundedErrors, boundedErrorsInSteps } from '../../machinery/error-budget.js';
import type { FieldError } from '../../machinery/field-error.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../machinery/object-meta-validation.js';
import { loopbackUser } from '../../machinery/user-info.js';
import { atOnce, type Steps } from '../../std/steps.js';
import type { ViewSubresource, ResourceDefinition } from '../definition/resource-definition.js';
import type { ResourceStore } from '../resource-store.js';
import type { Strategy, StrategyContext } from '../definition/strategy.js';
import { prepareUpdated } from './prepare.js';
import { objectTime } from './system-fields.js';

interface UpdatedObject {
  readonly object: KubeObject;
  readonly old: KubeObject;
  readonly metaErrors: readonly FieldError[];
}

interface UpdateRules {
  readonly definition: ResourceDefinition;
  /** The strategy of the version in which the request is made. */
  readonly strategy: Strategy;
  /** The subresource that is updated, if any. */
  readonly subresource: ViewSubresource | undefined;
}

/** Returns the errors of handwritten validation of an update. ResourceStore merges those of declared rules. */
export function updateErrors(
  updated: UpdatedObject,
  rules: UpdateRules,
  context: StrategyContext,
): Steps<readonly FieldError[]> {
  return boundedErrorsInSteps(errorsOf(updated, rules, context));
}

function* errorsOf(
  { object, old, metaErrors }: UpdatedObject,
  { definition, strategy, subresource }: UpdateRules,
  context: StrategyContext,
): Steps<readonly FieldError[]> {
  const errors = [...metaErrors, ...validateObjectMeta(object.metadata, definition.namespaced, strategy)];
  yield;
  if (subresource) {
    const found = subresource.validateInSteps
      ? yield* subresource.validateInSteps(object, old, context)
      : (subresource.validate?.(object, old, context) ?? []);
    return [...errors, ...found];
  }
  const own = strategy.validateInSteps
    ? yield* strategy.validateInSteps(object, old, context)
    : (strategy.validateUpdate?.(object, old, context) ?? []);
  return [...errors, ...own];
}

/**
 * Validates an update that changes nothing. Its errors reject every update of the stored object until it is corrected.
 * Skips admission and reservations, and writes nothing.
 */
export function unchangedUpdateErrors(store: ResourceStore, encoded: EncodedObject): readonly FieldError[] {
  const { definition, dependencies } = store;
  const { strategy } = definition;
  const context = { user: loopbackUser, now: objectTime(dependencies.clock.now()) };
  const old = encoded.parse();
  const object = encoded.parse();
  const metaErrors = boundedErrors(() => validateObjectMetaUpdate(object.metadata, old.metadata));
  store.fillDefaults(object);
  prepareUpdated(definition, object, old, context);
  const handwritten = atOnce(
    updateErrors({ object, old, metaErrors }, { definition, strategy, subresource: undefined }, context),
  );
  return store.mergeDeclaredErrors(object, old, handwritten);
}
