import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { checked, each, notNegative, oneOf } from '../../machinery/field-rules.js';
import { asFields, asItems, asNumber, asText, isSet, type Fields } from '../../machinery/fields.js';
import { validateQualifiedName } from '../../machinery/names.js';
import { parseIndexes } from './indexes.js';

const rulesMax = 20;
const exitCodesMax = 255;
const patternsMax = 20;
const succeededIndexesBytesMax = 64 * 1024;

/** Values whose fields are too many to be shown: the message stands alone. */
export function refusedWhole(at: FieldPath, message: string): FieldError {
  return { type: 'FieldValueInvalid', field: String(at), detail: `Invalid value: ${message}` };
}

/** What to do about pods that failed, by how they ended or what became of them. */
export function validateFailurePolicy(spec: Fields, specAt: FieldPath): FieldError[] {
  if (!isSet(spec['podFailurePolicy'])) return [];
  const at = specAt.child('podFailurePolicy', 'rules');
  const rules = asItems(asFields(spec['podFailurePolicy'])['rules']);
  const errors = rules.length > rulesMax ? [fieldError.tooMany(String(at), rules.length, rulesMax)] : [];
  const pod = asFields(asFields(spec['template'])['spec']);
  const containers = new Set(
    [...asItems(pod['containers']), ...asItems(pod['initContainers'])].map((it) => asText(it['name'])),
  );
  return [
    ...errors,
    ...each(rules, at, (rule, ruleAt) => [
      ...validateAction(rule, ruleAt.child('action'), spec),
      ...validateRuleParts(rule, ruleAt, containers),
    ]),
  ];
}

const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];

function validateAction(rule: Fields, at: FieldPath, spec: Fields): FieldError[] {
  const action = asText(rule['action']);
  if (action === '') {
    return [fieldError.required(String(at), `valid values: ${actions.map((name) => `"${name}"`).join(' ')}`)];
  }
  if (action === 'FailIndex' && !isSet(spec['backoffLimitPerIndex'])) {
    return [fieldError.invalid(String(at), action, 'requires the backoffLimitPerIndex to be set')];
  }
  return oneOf(action, at, actions);
}

function validateRuleParts(rule: Fields, at: FieldPath, containers: ReadonlySet<string>): FieldError[] {
  const hasCodes = isSet(rule['onExitCodes']);
  const hasConditions = asItems(rule['onPodConditions']).length > 0;
  const errors: FieldError[] = [];
  if (hasCodes) errors.push(...validateExitCodes(asFields(rule['onExitCodes']), at.child('onExitCodes'), containers));
  if (hasConditions) errors.push(...validatePatterns(rule['onPodConditions'], at.child('onPodConditions')));
  if (hasCodes && hasConditions) {
    errors.push(refusedWhole(at, 'specifying both OnExitCodes and OnPodConditions is not supported'));
  }
  if (!hasCodes && !hasConditions) {
    errors.push(refusedWhole(at, 'specifying one of OnExitCodes and OnPodConditions is required'));
  }
  return errors;
}

function validateExitCodes(codes: Fields, at: FieldPath, containers: ReadonlySet<string>): FieldError[] {
  const operator = asText(codes['operator']);
  const values = Array.isArray(codes['values']) ? codes['values'].map(asNumber) : [];
  const valuesAt = at.child('values');
  const errors =
    operator === ''
      ? [fieldError.required(String(at.child('operator')), 'valid values: "In" "NotIn"')]
      : oneOf(operator, at.child('operator'), ['In', 'NotIn']);
  if (isSet(codes['containerName']) && !containers.has(asText(codes['containerName']))) {
    const message = 'must be one of the container or initContainer names in the pod template';
    errors.push(fieldError.invalid(String(at.child('containerName')), codes['containerName'], message));
  }
  if (values.length === 0) errors.push(fieldError.invalid(String(valuesAt), values, 'at least one value is required'));
  if (values.length > exitCodesMax) errors.push(fieldError.tooMany(String(valuesAt), values.length, exitCodesMax));
  const seen = new Set<number>();
  for (const [index, value] of values.entries()) {
    const valueAt = String(valuesAt.index(index));
    if (seen.has(value)) errors.push(fieldError.duplicate(valueAt, value));
    seen.add(value);
    // A pod that ended with 0 has not failed.
    if (value === 0 && operator === 'In') {
      errors.push(fieldError.invalid(valueAt, value, 'must not be 0 for the In operator'));
    }
  }
  if (values.some((value, index) => index > 0 && value < values[index - 1]!)) {
    errors.push(fieldError.invalid(String(valuesAt), values, 'must be ordered'));
  }
  return errors;
}

function validatePatterns(patterns: unknown, at: FieldPath): FieldError[] {
  const count = asItems(patterns).length;
  return [
    ...(count > patternsMax ? [fieldError.tooMany(String(at), count, patternsMax)] : []),
    ...each(patterns, at, (pattern, patternAt) => [
      ...checked(asText(pattern['type']), patternAt.child('type'), validateQualifiedName),
      ...oneOf(asText(pattern['status']), patternAt.child('status'), ['False', 'True', 'Unknown']),
    ]),
  ];
}

/** When enough of an indexed job has succeeded for the rest not to matter. */
export function validateSuccessPolicy(spec: Fields, specAt: FieldPath): FieldError[] {
  if (!isSet(spec['successPolicy'])) return [];
  const at = specAt.child('successPolicy');
  const rules = asItems(asFields(spec['successPolicy'])['rules']);
  if (spec['completionMode'] !== 'Indexed') {
    const shown = {
      Rules: rules.map((rule) => ({
        SucceededIndexes: rule['succeededIndexes'] ?? null,
        SucceededCount: rule['succeededCount'] ?? null,
      })),
    };
    return [fieldError.invalid(String(at), shown, 'requires indexed completion mode')];
  }
  const rulesAt = at.child('rules');
  const errors: FieldError[] = [];
  if (rules.length === 0) {
    const message = 'at least one rules must be specified when the successPolicy is specified';
    errors.push(fieldError.required(String(rulesAt), message));
  }
  if (rules.length > rulesMax) errors.push(fieldError.tooMany(String(rulesAt), rules.length, rulesMax));
  const completions = asNumber(spec['completions']);
  return [...errors, ...each(rules, rulesAt, (rule, ruleAt) => validateSuccessRule(rule, ruleAt, completions))];
}

function validateSuccessRule(rule: Fields, at: FieldPath, completions: number): FieldError[] {
  const { succeededIndexes: indexes, succeededCount: count } = rule;
  if (!isSet(indexes) && !isSet(count)) {
    return [fieldError.required(String(at), 'at least one of succeededCount or succeededIndexes must be specified')];
  }
  const errors: FieldError[] = [];
  let total: number | undefined;
  if (isSet(indexes)) {
    const indexesAt = String(at.child('succeededIndexes'));
    if (Buffer.byteLength(asText(indexes)) > succeededIndexesBytesMax) {
      errors.push(fieldError.tooLong(indexesAt, succeededIndexesBytesMax));
    }
    const parsed = parseIndexes(asText(indexes), completions);
    if ('problem' in parsed) {
      errors.push(fieldError.invalid(indexesAt, indexes, `error parsing succeededIndexes: ${parsed.problem}`));
    } else total = parsed.total;
  }
  if (!isSet(count)) return errors;
  const countAt = at.child('succeededCount');
  errors.push(...notNegative(count, countAt));
  const atMost = (max: number, what: string) => {
    if (asNumber(count) <= max) return;
    errors.push(fieldError.invalid(String(countAt), count, `must be less than or equal to ${max} (${what})`));
  };
  atMost(completions, 'the number of specified completions');
  if (total !== undefined) atMost(total, 'the number of indexes in the specified succeededIndexes field');
  return errors;
}
