import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { oneOf } from '../../machinery/field-rules.js';
import { asFields, fillIn, isSet, makeFields, type Fields } from '../../machinery/fields.js';
import { atMostAll, validateIntOrPercent } from '../../machinery/int-or-percent.js';
import { validateConditions } from '../../machinery/condition-validation.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsPathSegment } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateCounters } from '../core/replica-status.validation.js';
import { validateLabelSelectorObject } from '../core/selector.validation.js';

/** How many pods of an application may be away at once by will: evictions ask it, accidents do not. */
export const podDisruptionBudgetStrategy: Strategy = {
  validateName: nameIsPathSegment,
  countsGenerations: true,
  default: defaultBudget,
  prepareForCreate(budget) {
    budget['status'] = {};
    fillCounters(budget);
  },
  prepareForUpdate(budget, old) {
    budget['status'] = old['status'];
  },
  validateCreate: validateBudget,
  validateUpdate: validateBudget,
};

const counters = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'];

function defaultBudget(budget: KubeObject): void {
  makeFields(budget, 'spec');
  fillCounters(budget);
}

function fillCounters(budget: KubeObject): void {
  const status = makeFields(budget, 'status');
  for (const counter of counters) fillIn(status, counter, 0);
}

const at = path('spec');
const amounts = ['minAvailable', 'maxUnavailable'];

function validateBudget(budget: KubeObject): FieldError[] {
  const spec = asFields(budget['spec']);
  const policies = ['AlwaysAllow', 'IfHealthyBudget'];
  return [
    ...(amounts.every((field) => isSet(spec[field]))
      ? [fieldError.invalid(String(at), shownSpec(spec), 'minAvailable and maxUnavailable cannot be both set')]
      : []),
    ...amounts.flatMap((field) => [
      ...validateIntOrPercent(spec[field], at.child(field)),
      ...atMostAll(spec[field], at.child(field)),
    ]),
    ...validateLabelSelectorObject(spec['selector'], at.child('selector')),
    ...oneOf(spec['unhealthyPodEvictionPolicy'], at.child('unhealthyPodEvictionPolicy'), policies),
  ];
}

const shownSpec = (spec: Fields): Fields => ({
  MinAvailable: spec['minAvailable'] ?? null,
  Selector: spec['selector'] ?? null,
  MaxUnavailable: spec['maxUnavailable'] ?? null,
  UnhealthyPodEvictionPolicy: spec['unhealthyPodEvictionPolicy'] ?? null,
});

export const podDisruptionBudgetStatusSubresource = statusSubresource({
  validate: (budget) => [
    ...validateConditions(asFields(budget['status'])['conditions'], path('status').child('conditions')),
    ...validateCounters(budget, counters),
  ],
});
