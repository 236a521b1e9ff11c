import type {
  PodDisruptionBudget,
  PodDisruptionBudgetSpec,
  PodDisruptionBudgetStatus,
} from '../../catalog/types/policy.v1.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { oneOf } from '../../machinery/field-rules.js';
import { atMostAll, validateIntOrPercent } from '../../machinery/int-or-percent.js';
import { validateConditions } from '../../machinery/condition-validation.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsPathSegment } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateCounters } from '../core/replica-status.validation.js';
import { validateLabelSelectorObject } from '../core/selector.validation.js';

/** A PodDisruptionBudget limits how many Pods may be evicted at once. */
export const podDisruptionBudgetStrategy: Strategy<PodDisruptionBudget> = {
  validateName: nameIsPathSegment,
  countsGenerations: true,
  default: defaultBudget,
  initialStatus: () => withCounters({}),
  validateCreate: validateBudget,
  validateUpdate: validateBudget,
};

const counters = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const;

function defaultBudget(budget: Mutable<PodDisruptionBudget>): void {
  budget.spec ??= {};
  withCounters((budget.status ??= {}));
}

function withCounters(status: Mutable<PodDisruptionBudgetStatus>): PodDisruptionBudgetStatus {
  for (const counter of counters) status[counter] ??= 0;
  return status;
}

const at = path('spec');
const amounts = ['minAvailable', 'maxUnavailable'] as const;

function validateBudget({ spec = {} }: PodDisruptionBudget): FieldError[] {
  const policies = ['AlwaysAllow', 'IfHealthyBudget'];
  return [
    ...(amounts.every((field) => spec[field] !== undefined)
      ? [fieldError.invalid(at, shownSpec(spec), 'minAvailable and maxUnavailable cannot be both set')]
      : []),
    ...amounts.flatMap((field) => [
      ...validateIntOrPercent(spec[field], at.child(field)),
      ...atMostAll(spec[field], at.child(field)),
    ]),
    ...validateLabelSelectorObject(spec.selector, at.child('selector')),
    ...oneOf(spec.unhealthyPodEvictionPolicy, at.child('unhealthyPodEvictionPolicy'), policies),
  ];
}

const shownSpec = (spec: PodDisruptionBudgetSpec) => ({
  MinAvailable: spec.minAvailable ?? null,
  Selector: spec.selector ?? null,
  MaxUnavailable: spec.maxUnavailable ?? null,
  UnhealthyPodEvictionPolicy: spec.unhealthyPodEvictionPolicy ?? null,
});

export const podDisruptionBudgetStatusSubresource = statusSubresource<PodDisruptionBudget>({
  validate: (budget) => [
    ...validateConditions(budget.status?.conditions, path('status').child('conditions')),
    ...validateCounters(budget, counters),
  ],
});
