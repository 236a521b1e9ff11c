import type { Job, JobSpec, JobStatus, UncountedTerminatedPods } from '../../catalog/types/batch.v1.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { immutable } from '../../machinery/immutable.js';
import { validateCounters } from '../core/replica-status.validation.js';
import { parseIndexes } from './indexes.js';

const at = path('status');

/** Validates that the fields of a status agree: a complete Job has a completionTime, its conditions, no active Pods. */
export function validateJobStatus(job: Job, old: Job): FieldError[] {
  const { spec = {}, status = {} } = job;
  const before = old.status ?? {};
  return [
    ...validateCounters(job, ['active', 'succeeded', 'failed', 'ready', 'terminating']),
    ...validateCompletionTime(status, before),
    ...validateEnd(status),
    ...validateStartTime(status, before, spec),
    ...validateUncounted(status.uncountedTerminatedPods ?? {}),
    ...validateIndexLists(status, before, spec),
    ...validateKeptConditions(status, before),
  ];
}

const holds = ({ conditions = [] }: JobStatus, type: string): boolean =>
  conditions.some((condition) => condition.type === type && condition.status === 'True');
const isFinished = (status: JobStatus): boolean => holds(status, 'Complete') || holds(status, 'Failed');

const contradictions = [
  ['Complete', 'Failed'],
  ['Complete', 'FailureTarget'],
  ['Failed', 'SuccessCriteriaMet'],
  ['FailureTarget', 'SuccessCriteriaMet'],
] as const;

/** Conditions that are true only with another one. */
const reasons = [
  ['Complete', 'SuccessCriteriaMet'],
  ['Failed', 'FailureTarget'],
] as const;

function validateEnd(status: JobStatus): FieldError[] {
  const conditionsAt = at.child('conditions');
  const errors = contradictions
    .filter(([one, other]) => holds(status, one) && holds(status, other))
    .map(([one, other]) =>
      fieldError.invalidOmitted(conditionsAt, `cannot set ${one}=True and ${other}=true conditions`),
    );
  for (const [end, reason] of reasons) {
    if (!holds(status, end) || holds(status, reason)) continue;
    errors.push(
      fieldError.invalidOmitted(conditionsAt, `cannot set ${end}=True condition without the ${reason}=true condition`),
    );
  }
  if (isFinished(status) && (status.active ?? 0) > 0) {
    const message = 'active>0 is invalid for finished job';
    errors.push(fieldError.invalid(at.child('active'), status.active, message));
  }
  return errors;
}

function validateCompletionTime(status: JobStatus, before: JobStatus): FieldError[] {
  const { startTime, completionTime } = status;
  const completionAt = at.child('completionTime');
  const errors: FieldError[] = [];
  if (holds(status, 'Complete') && completionTime === undefined) {
    errors.push(fieldError.required(completionAt, 'completionTime is required for Complete jobs'));
  }
  const refuse = (message: string) => errors.push(fieldError.invalid(completionAt, completionTime, message));
  if (!holds(status, 'Complete') && completionTime !== undefined) {
    refuse('cannot set completionTime when there is no Complete=True condition');
  }
  if (Date.parse(completionTime ?? '') < Date.parse(startTime ?? '')) {
    refuse('completionTime cannot be set before startTime');
  }
  if (before.completionTime !== undefined) {
    errors.push(...immutable(completionTime, before.completionTime, completionAt));
  }
  return errors;
}

function validateStartTime(status: JobStatus, before: JobStatus, { suspend }: JobSpec): FieldError[] {
  const { startTime } = status;
  const refuse = (message: string) => [fieldError.required(at.child('startTime'), message)];
  if (isFinished(status) && startTime === undefined) return refuse('startTime is required for finished job');
  if (before.startTime === undefined || suspend) return [];
  if (startTime === undefined) return refuse('startTime cannot be removed for unsuspended job');
  return startTime === before.startTime ? [] : refuse('startTime cannot be updated for unsuspended job');
}

function validateUncounted(uncounted: UncountedTerminatedPods): FieldError[] {
  const seen = new Set<string>();
  return (['succeeded', 'failed'] as const).flatMap((list) =>
    (uncounted[list] ?? []).flatMap((uid, index) => {
      const where = at.child('uncountedTerminatedPods', list).index(index);
      if (uid === '') return [fieldError.invalid(where, uid, 'must not be empty')];
      if (seen.has(uid)) return [fieldError.duplicate(where, uid)];
      seen.add(uid);
      return [];
    }),
  );
}

function validateIndexLists(status: JobStatus, before: JobStatus, spec: JobSpec): FieldError[] {
  const { completions = 0, completionMode } = spec;
  return (['completedIndexes', 'failedIndexes'] as const).flatMap((field) => {
    const text = status[field] ?? '';
    if (text === '' || text === before[field]) return [];
    const where = at.child(field);
    if (completionMode !== 'Indexed') {
      return [fieldError.invalid(where, text, `cannot set non-empty ${field} when non-indexed completion mode`)];
    }
    const parsed = parseIndexes(text, completions);
    return 'problem' in parsed ? [fieldError.invalid(where, text, `error parsing ${field}: ${parsed.problem}`)] : [];
  });
}

const terminalConditions = ['Complete', 'Failed', 'FailureTarget', 'SuccessCriteriaMet'];

/** Terminal conditions stay true. */
function validateKeptConditions(status: JobStatus, before: JobStatus): FieldError[] {
  return terminalConditions
    .filter((type) => holds(before, type) && !holds(status, type))
    .map((type) =>
      fieldError.invalidOmitted(at.child('conditions'), `cannot disable the terminal ${type}=True condition`),
    );
}
