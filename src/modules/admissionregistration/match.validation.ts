import type { LabelSelector } from '../../catalog/types/meta.v1.js';
import type { MatchCondition, MatchResources } from '../../catalog/types/admissionregistration.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { duplicates, each, oneOf, required, requiredName } from '../../machinery/field-rules.js';
import { validateQualifiedName } from '../../machinery/names.js';
import { validateLabelSelectorObject } from '../core/selector.validation.js';
import { validateNamedRule } from './rule.validation.js';

const matchConditionsMax = 64;

export const matchPolicies = ['Equivalent', 'Exact'];
export const failurePolicies = ['Fail', 'Ignore'];

interface Selectors {
  readonly namespaceSelector?: LabelSelector | undefined;
  readonly objectSelector?: LabelSelector | undefined;
}

export function validateSelectors({ namespaceSelector, objectSelector }: Selectors, at: FieldPath): FieldError[] {
  return [
    ...validateLabelSelectorObject(namespaceSelector, at.child('namespaceSelector')),
    ...validateLabelSelectorObject(objectSelector, at.child('objectSelector')),
  ];
}

/** Validates the selection of requests for a policy. */
export function validateMatchResources(match: MatchResources | undefined, at: FieldPath): FieldError[] {
  if (!match) return [];
  return [
    ...oneOf(match.matchPolicy, at.child('matchPolicy'), matchPolicies),
    ...validateSelectors(match, at),
    ...each(match.excludeResourceRules, at.child('excludeResourceRules'), validateNamedRule),
    ...each(match.resourceRules, at.child('resourceRules'), validateNamedRule),
  ];
}

/** Validates expressions that must be true for a request before a webhook or a policy is used. */
export function validateMatchConditions(conditions: readonly MatchCondition[] = [], at: FieldPath): FieldError[] {
  return [
    ...(conditions.length > matchConditionsMax ? [fieldError.tooMany(at, conditions.length, matchConditionsMax)] : []),
    ...each(conditions, at, ({ name = '', expression = '' }, conditionAt) => [
      ...required(expression.trim(), conditionAt.child('expression')),
      ...requiredName(name, conditionAt.child('name'), validateQualifiedName),
    ]),
    ...duplicates(
      conditions,
      ({ name = '' }) => name,
      (index) => at.index(index).child('name'),
    ),
  ];
}
