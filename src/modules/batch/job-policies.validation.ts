import type {
  JobSpec,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
  SuccessPolicyRule,
} from '../../catalog/types/batch.v1.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, each, notNegative, oneOf } from '../../machinery/field-rules.js';
import { validateQualifiedName } from '../../machinery/names.js';
import { parseIndexes } from './indexes.js';

const rulesMax = 20;
const exitCodesMax = 255;
const patternsMax = 20;
const succeededIndexesBytesMax = 64 * 1024;

export function validateFailurePolicy(spec: JobSpec, specAt: FieldPath): FieldError[] {
  if (!spec.podFailurePolicy) return [];
  const at = specAt.child('podFailurePolicy', 'rules');
  const rules = spec.podFailurePolicy.rules ?? [];
  const errors = rules.length > rulesMax ? [fieldError.tooMany(at, rules.length, rulesMax)] : [];
  const { containers, initContainers } = spec.template?.spec ?? {};
  const names = new Set([...(containers ?? []), ...(initContainers ?? [])].map(({ name = '' }) => name));
  return [
    ...errors,
    ...each(rules, at, (rule, ruleAt) => [
      ...validateAction(rule, ruleAt.child('action'), spec),
      ...validateConditions(rule, ruleAt, names),
    ]),
  ];
}

const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];

function validateAction({ action = '' }: PodFailurePolicyRule, at: FieldPath, spec: JobSpec): FieldError[] {
  if (action === '') {
    return [fieldError.required(at, `valid values: ${actions.map((name) => `"${name}"`).join(' ')}`)];
  }
  if (action === 'FailIndex' && spec.backoffLimitPerIndex === undefined) {
    return [fieldError.invalid(at, action, 'requires the backoffLimitPerIndex to be set')];
  }
  return oneOf(action, at, actions);
}

/** Requires either onExitCodes or onPodConditions. */
function validateConditions(
  { onExitCodes, onPodConditions = [] }: PodFailurePolicyRule,
  at: FieldPath,
  containers: ReadonlySet<string>,
): FieldError[] {
  const hasConditions = onPodConditions.length > 0;
  const errors: FieldError[] = [];
  if (onExitCodes) errors.push(...validateExitCodes(onExitCodes, at.child('onExitCodes'), containers));
  if (hasConditions) errors.push(...validatePatterns(onPodConditions, at.child('onPodConditions')));
  if (onExitCodes && hasConditions) {
    errors.push(fieldError.invalidOmitted(at, 'specifying both OnExitCodes and OnPodConditions is not supported'));
  }
  if (!onExitCodes && !hasConditions) {
    errors.push(fieldError.invalidOmitted(at, 'specifying one of OnExitCodes and OnPodConditions is required'));
  }
  return errors;
}

function validateExitCodes(
  codes: PodFailurePolicyOnExitCodesRequirement,
  at: FieldPath,
  containers: ReadonlySet<string>,
): FieldError[] {
  const { operator = '', containerName } = codes;
  const values = codes.values ?? [];
  const valuesAt = at.child('values');
  const errors =
    operator === ''
      ? [fieldError.required(at.child('operator'), 'valid values: "In" "NotIn"')]
      : oneOf(operator, at.child('operator'), ['In', 'NotIn']);
  if (containerName !== undefined && !containers.has(containerName)) {
    const message = 'must be one of the container or initContainer names in the pod template';
    errors.push(fieldError.invalid(at.child('containerName'), containerName, message));
  }
  if (values.length === 0) errors.push(fieldError.invalid(valuesAt, values, 'at least one value is required'));
  if (values.length > exitCodesMax) errors.push(fieldError.tooMany(valuesAt, values.length, exitCodesMax));
  const seen = new Set<number>();
  for (const [index, value] of values.entries()) {
    const valueAt = valuesAt.index(index);
    if (seen.has(value)) errors.push(fieldError.duplicate(valueAt, value));
    seen.add(value);
    // A container that exits with 0 has not failed.
    if (value === 0 && operator === 'In') {
      errors.push(fieldError.invalid(valueAt, value, 'must not be 0 for the In operator'));
    }
  }
  if (values.some((value, index) => index > 0 && value < values[index - 1]!)) {
    errors.push(fieldError.invalid(valuesAt, values, 'must be ordered'));
  }
  return errors;
}

function validatePatterns(patterns: readonly PodFailurePolicyOnPodConditionsPattern[], at: FieldPath): FieldError[] {
  const count = patterns.length;
  return [
    ...(count > patternsMax ? [fieldError.tooMany(at, count, patternsMax)] : []),
    ...each(patterns, at, ({ type = '', status = '' }, patternAt) => [
      ...checked(type, patternAt.child('type'), validateQualifiedName),
      ...oneOf(status, patternAt.child('status'), ['False', 'True', 'Unknown']),
    ]),
  ];
}

export function validateSuccessPolicy(spec: JobSpec, specAt: FieldPath): FieldError[] {
  if (!spec.successPolicy) return [];
  const at = specAt.child('successPolicy');
  const rules = spec.successPolicy.rules ?? [];
  if (spec.completionMode !== 'Indexed') {
    const shown = {
      Rules: rules.map((rule) => ({
        SucceededIndexes: rule.succeededIndexes ?? null,
        SucceededCount: rule.succeededCount ?? null,
      })),
    };
    return [fieldError.invalid(at, shown, 'requires indexed completion mode')];
  }
  const rulesAt = at.child('rules');
  const errors: FieldError[] = [];
  if (rules.length === 0) {
    const message = 'at least one rules must be specified when the successPolicy is specified';
    errors.push(fieldError.required(rulesAt, message));
  }
  if (rules.length > rulesMax) errors.push(fieldError.tooMany(rulesAt, rules.length, rulesMax));
  const { completions = 0 } = spec;
  return [...errors, ...each(rules, rulesAt, (rule, ruleAt) => validateSuccessRule(rule, ruleAt, completions))];
}

function validateSuccessRule(rule: SuccessPolicyRule, at: FieldPath, completions: number): FieldError[] {
  const { succeededIndexes: indexes, succeededCount: count } = rule;
  if (indexes === undefined && count === undefined) {
    return [fieldError.required(at, 'at least one of succeededCount or succeededIndexes must be specified')];
  }
  const errors: FieldError[] = [];
  let total: number | undefined;
  if (indexes !== undefined) {
    const indexesAt = at.child('succeededIndexes');
    if (Buffer.byteLength(indexes) > succeededIndexesBytesMax) {
      errors.push(fieldError.tooLong(indexesAt, succeededIndexesBytesMax));
    }
    const parsed = parseIndexes(indexes, completions);
    if ('problem' in parsed) {
      errors.push(fieldError.invalid(indexesAt, indexes, `error parsing succeededIndexes: ${parsed.problem}`));
    } else total = parsed.total;
  }
  if (count === undefined) return errors;
  const countAt = at.child('succeededCount');
  errors.push(...notNegative(count, countAt));
  const atMost = (max: number, what: string) => {
    if (count <= max) return;
    errors.push(fieldError.invalid(countAt, count, `must be less than or equal to ${max} (${what})`));
  };
  atMost(completions, 'the number of specified completions');
  if (total !== undefined) atMost(total, 'the number of indexes in the specified succeededIndexes field');
  return errors;
}
