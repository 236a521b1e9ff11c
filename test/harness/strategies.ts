import { stringifyJson } from '../../src/codec/json.js';
import { atOnce } from '../../src/std/steps.js';
import type { FieldError } from '../../src/machinery/field-error.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { ResourceDefinition } from '../../src/registry/definition/resource-definition.js';
import { statusSubresource } from '../../src/registry/definition/status-subresource.js';
import type { Strategy, StrategyContext } from '../../src/registry/definition/strategy.js';
import { prepareCreated, prepareUpdated } from '../../src/registry/write/prepare.js';

export const testContext: StrategyContext = {
  user: { name: 'tester', uid: '', groups: [], extra: {} },
  now: '2026-01-02T03:04:05Z',
};

/** Returns the object after the steps `default` and `prepare` of a create, for the specs of kinds. */
export function prepared(strategy: Strategy, object: KubeObject): KubeObject {
  const made = structuredClone(object);
  strategy.default?.(made);
  const again = structuredClone(made);
  strategy.default?.(again);
  if (stringifyJson(again) !== stringifyJson(made)) throw new Error('defaults are not idempotent');
  prepareCreated(partsOf(strategy, made), made, testContext);
  return made;
}

/** Runs the step `prepare` of an update. */
export function prepareUpdate(strategy: Strategy, object: KubeObject, old: KubeObject): void {
  prepareUpdated(partsOf(strategy, old), object, old, testContext);
}

/** The parts of a definition that a write prepares by. Kinds with a status have the status subresource. */
function partsOf(strategy: Strategy, object: KubeObject): Pick<ResourceDefinition, 'strategy' | 'subresources'> {
  const hasStatus = strategy.initialStatus !== undefined || object['status'] !== undefined;
  return { strategy, subresources: hasStatus ? { status: statusSubresource() } : {} };
}

/** Error messages of a create. */
export function refusals(strategy: Strategy, object: KubeObject): string[] {
  const made = prepared(strategy, object);
  if (strategy.validateInSteps) return texts(atOnce(strategy.validateInSteps(made, undefined, testContext)));
  return texts(strategy.validateCreate?.(made, testContext) ?? []);
}

/** Error messages of an update from one state to another, both as clients send them. The old one gets `status`, if given. */
export function updateRefusals(strategy: Strategy, object: KubeObject, old: KubeObject, status?: object): string[] {
  const before = prepared(strategy, old);
  if (status) before['status'] = status;
  const after = structuredClone(object);
  strategy.default?.(after);
  prepareUpdate(strategy, after, before);
  if (strategy.validateInSteps) return texts(atOnce(strategy.validateInSteps(after, before, testContext)));
  return texts(strategy.validateUpdate?.(after, before, testContext) ?? []);
}

export function texts(errors: readonly FieldError[]): string[] {
  return errors.map((error) => `${error.field}: ${error.detail}`);
}
