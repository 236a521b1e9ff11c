import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { asFields, asItems, asNumber, asText, asTexts, isSet, type Fields } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { validateCounters } from '../core/replica-status.validation.js';
import { parseIndexes } from './indexes.js';
import { refusedWhole } from './job-policies.validation.js';

const at = path('status');

/** A status tells one story: a job that is complete has a time when it was, has met what it had to, and runs no more. */
export function validateJobStatus(job: KubeObject, old: KubeObject): FieldError[] {
  const status = asFields(job['status']);
  const before = asFields(old['status']);
  return [
    ...validateCounters(job, ['active', 'succeeded', 'failed', 'ready', 'terminating']),
    ...validateCompletionTime(status, before),
    ...validateEnd(status),
    ...validateStartTime(status, before, asFields(job['spec'])),
    ...validateUncounted(asFields(status['uncountedTerminatedPods'])),
    ...validateIndexLists(status, before, asFields(job['spec'])),
    ...validateKeptConditions(status, before),
  ];
}

const holds = (status: Fields, type: string): boolean =>
  asItems(status['conditions']).some((condition) => condition['type'] === type && condition['status'] === 'True');
const isFinished = (status: Fields): boolean => holds(status, 'Complete') || holds(status, 'Failed');

const contradictions = [
  ['Complete', 'Failed'],
  ['Complete', 'FailureTarget'],
  ['Failed', 'SuccessCriteriaMet'],
  ['FailureTarget', 'SuccessCriteriaMet'],
] as const;

/** What must have held before. */
const reasons = [
  ['Complete', 'SuccessCriteriaMet'],
  ['Failed', 'FailureTarget'],
] as const;

function validateEnd(status: Fields): FieldError[] {
  const conditionsAt = at.child('conditions');
  const errors = contradictions
    .filter(([one, other]) => holds(status, one) && holds(status, other))
    .map(([one, other]) => refusedWhole(conditionsAt, `cannot set ${one}=True and ${other}=true conditions`));
  for (const [end, reason] of reasons) {
    if (!holds(status, end) || holds(status, reason)) continue;
    errors.push(refusedWhole(conditionsAt, `cannot set ${end}=True condition without the ${reason}=true condition`));
  }
  if (isFinished(status) && asNumber(status['active']) > 0) {
    const message = 'active>0 is invalid for finished job';
    errors.push(fieldError.invalid(String(at.child('active')), status['active'], message));
  }
  return errors;
}

function validateCompletionTime(status: Fields, before: Fields): FieldError[] {
  const { startTime, completionTime } = status;
  const completionAt = at.child('completionTime');
  const errors: FieldError[] = [];
  if (holds(status, 'Complete') && !isSet(completionTime)) {
    errors.push(fieldError.required(String(completionAt), 'completionTime is required for Complete jobs'));
  }
  const refuse = (message: string) => errors.push(fieldError.invalid(String(completionAt), completionTime, message));
  if (!holds(status, 'Complete') && isSet(completionTime)) {
    refuse('cannot set completionTime when there is no Complete=True condition');
  }
  if (Date.parse(asText(completionTime)) < Date.parse(asText(startTime))) {
    refuse('completionTime cannot be set before startTime');
  }
  if (isSet(before['completionTime']))
    errors.push(...immutable(completionTime, before['completionTime'], completionAt));
  return errors;
}

function validateStartTime(status: Fields, before: Fields, spec: Fields): FieldError[] {
  const { startTime } = status;
  const refuse = (message: string) => [fieldError.required(String(at.child('startTime')), message)];
  if (isFinished(status) && !isSet(startTime)) return refuse('startTime is required for finished job');
  if (!isSet(before['startTime']) || spec['suspend'] === true) return [];
  if (!isSet(startTime)) return refuse('startTime cannot be removed for unsuspended job');
  return startTime === before['startTime'] ? [] : refuse('startTime cannot be updated for unsuspended job');
}

function validateUncounted(uncounted: Fields): FieldError[] {
  const seen = new Set<string>();
  return ['succeeded', 'failed'].flatMap((list) =>
    asTexts(uncounted[list]).flatMap((uid, index) => {
      const where = String(at.child('uncountedTerminatedPods', list).index(index));
      if (uid === '') return [fieldError.invalid(where, uid, 'must not be empty')];
      if (seen.has(uid)) return [fieldError.duplicate(where, uid)];
      seen.add(uid);
      return [];
    }),
  );
}

function validateIndexLists(status: Fields, before: Fields, spec: Fields): FieldError[] {
  const completions = asNumber(spec['completions']);
  return ['completedIndexes', 'failedIndexes'].flatMap((field) => {
    const text = asText(status[field]);
    if (text === '' || text === before[field]) return [];
    const where = String(at.child(field));
    if (spec['completionMode'] !== 'Indexed') {
      return [fieldError.invalid(where, text, `cannot set non-empty ${field} when non-indexed completion mode`)];
    }
    const parsed = parseIndexes(text, completions);
    return 'problem' in parsed ? [fieldError.invalid(where, text, `error parsing ${field}: ${parsed.problem}`)] : [];
  });
}

const final = ['Complete', 'Failed', 'FailureTarget', 'SuccessCriteriaMet'];

/** What was once decided stays decided. */
function validateKeptConditions(status: Fields, before: Fields): FieldError[] {
  return final
    .filter((type) => holds(before, type) && !holds(status, type))
    .map((type) => refusedWhole(at.child('conditions'), `cannot disable the terminal ${type}=True condition`));
}
