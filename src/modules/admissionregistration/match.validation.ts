import type { LabelSelector } from '../../catalog/types/meta.v1.js';
import type { MatchCondition, MatchResources } from '../../catalog/types/admissionregistration.v1.js';
import type { AdmissionCompiler } from '../../expressions/admission-compiler.js';
import type { ExpressionMode } from '../../expressions/environment.js';
import { expressionErrors } from '../../expressions/expression-errors.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { duplicates, each, oneOf, requiredName } from '../../machinery/field-rules.js';
import { validateQualifiedName } from '../../machinery/names.js';
import type { Steps } from '../../std/steps.js';
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

const mutatingOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE'];

/** Validates that a policy mutates only requests that have an object. Errors have no index, as in the reference. */
export function validateMutatingOperations(match: MatchResources | undefined, at: FieldPath): FieldError[] {
  const rules = match?.resourceRules ?? [];
  const operationsAt = at.child('resourceRules', 'operations');
  return rules.flatMap(({ operations = [] }) =>
    operations.flatMap((operation) => oneOf(operation, operationsAt, mutatingOperations)),
  );
}

/** Validates expressions that must be true for a request before a webhook or a policy is used. */
export function* validateMatchConditions(
  conditions: readonly MatchCondition[] = [],
  at: FieldPath,
  compiler: AdmissionCompiler,
  stored: ReadonlySet<string>,
): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  if (conditions.length > matchConditionsMax) {
    errors.push(fieldError.tooMany(at, conditions.length, matchConditionsMax));
  }
  for (const [index, { name = '', expression: untrimmed = '' }] of conditions.entries()) {
    const conditionAt = at.index(index);
    const expression = untrimmed.trim();
    const expressionAt = conditionAt.child('expression');
    if (expression === '') errors.push(fieldError.required(expressionAt));
    else {
      const compiled = yield* compiler.compile('matchCondition', expression, modeOf(expression, stored));
      errors.push(...expressionErrors(compiled, expression, expressionAt));
    }
    errors.push(...requiredName(name, conditionAt.child('name'), validateQualifiedName));
  }
  return [
    ...errors,
    ...duplicates(
      conditions,
      ({ name = '' }) => name,
      (index) => at.index(index).child('name'),
    ),
  ];
}

/** Returns the mode for an expression: those of the stored object may use what later releases introduced. */
export const modeOf = (expression: string, stored: ReadonlySet<string>): ExpressionMode =>
  stored.has(expression) ? 'stored' : 'new';
