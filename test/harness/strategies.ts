import { atOnce } from '../../src/std/steps.js';
import type { FieldError } from '../../src/machinery/field-error.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { Strategy, StrategyContext } from '../../src/registry/definition/strategy.js';

/** Runs the parts of a create that a strategy implements, for the specs of kinds. */
export const testContext: StrategyContext = {
  user: { name: 'tester', uid: '', groups: [], extra: {} },
  now: '2026-01-02T03:04:05Z',
};

export function prepared(strategy: Strategy, object: KubeObject): KubeObject {
  const made = structuredClone(object);
  strategy.default?.(made);
  const again = structuredClone(made);
  strategy.default?.(again);
  if (JSON.stringify(again) !== JSON.stringify(made)) throw new Error('defaults are not idempotent');
  strategy.prepareForCreate?.(made, testContext);
  return made;
}

/** Error messages of a create. */
export function refusals(strategy: Strategy, object: KubeObject): string[] {
  const made = prepared(strategy, object);
  if (strategy.validateInSteps) return texts(atOnce(strategy.validateInSteps(made, undefined, testContext)));
  return texts(strategy.validateCreate?.(made, testContext) ?? []);
}

/** Error messages of an update from one state to another, both as clients send them. */
/** Error messages of an update; the old object has the status, if given. */
export function updateRefusals(strategy: Strategy, object: KubeObject, old: KubeObject, status?: object): string[] {
  const before = prepared(strategy, old);
  if (status) before['status'] = status;
  const after = structuredClone(object);
  strategy.default?.(after);
  strategy.prepareForUpdate?.(after, before, testContext);
  if (strategy.validateInSteps) return texts(atOnce(strategy.validateInSteps(after, before, testContext)));
  return texts(strategy.validateUpdate?.(after, before, testContext) ?? []);
}

export function texts(errors: readonly FieldError[]): string[] {
  return errors.map((error) => `${error.field}: ${error.detail}`);
}
