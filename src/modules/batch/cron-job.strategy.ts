import type { CronJob, CronJobSpec, JobTemplateSpec } from '../../catalog/types/batch.v1.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { notNegative, oneOf, required } from '../../machinery/field-rules.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { defaultPodTemplate, workloadWarnings } from '../core/pod/pod-template.js';
import { isTimeZone, scheduleProblem } from './cron-schedule.js';
import { defaultFailurePolicy } from './job.defaults.js';
import { validateJobSpec } from './job.validation.js';

export const cronJobStrategy: Strategy<CronJob> = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default: defaultCronJob,
  validateCreate: (cronJob) => [...validateName(cronJob), ...validateCronJob(cronJob.spec ?? {}, undefined)],
  validateUpdate: (cronJob, old) => validateCronJob(cronJob.spec ?? {}, old.spec ?? {}),
  warnings(cronJob, old) {
    const texts: string[] = [];
    if (zonePattern.test(cronJob.spec?.schedule ?? '')) {
      texts.push('cannot use TZ or CRON_TZ in spec.schedule, use spec.timeZone instead');
    }
    return [...texts, ...templateWarnings(cronJob, old)];
  },
};

const templateWarnings = workloadWarnings(
  ({ spec }: CronJob) => spec?.jobTemplate?.spec?.template,
  'spec.jobTemplate.spec.template',
);

const zonePattern = /TZ/;

function defaultCronJob(cronJob: Mutable<CronJob>): void {
  const spec = (cronJob.spec ??= {});
  spec.concurrencyPolicy ||= 'Allow';
  spec.suspend ??= false;
  spec.successfulJobsHistoryLimit ??= 3;
  spec.failedJobsHistoryLimit ??= 1;
  const template = (spec.jobTemplate ??= {});
  template.metadata ??= {};
  // The other defaults of a Job are filled in when it is created.
  const jobSpec = (template.spec ??= {});
  defaultPodTemplate(jobSpec);
  if (jobSpec.podFailurePolicy) defaultFailurePolicy(jobSpec.podFailurePolicy);
  cronJob.status ??= {};
}

/** Jobs are named after the CronJob and eleven more characters, and their names must be DNS labels. */
const nameLengthMax = 52;

function validateName({ metadata: { name = '' } }: CronJob): FieldError[] {
  if (name.length <= nameLengthMax) return [];
  return [fieldError.invalid('metadata.name', name, `must be no more than ${nameLengthMax} characters`)];
}

const at = path('spec');

function validateCronJob(spec: CronJobSpec, before: CronJobSpec | undefined): FieldError[] {
  return [
    ...validateSchedule(spec, before),
    ...notNegative(spec.startingDeadlineSeconds, at.child('startingDeadlineSeconds')),
    ...validateTimeZone(spec.timeZone, before?.timeZone),
    ...oneOf(spec.concurrencyPolicy ?? '', at.child('concurrencyPolicy'), ['Allow', 'Forbid', 'Replace']),
    ...validateJobTemplate(spec.jobTemplate ?? {}, at.child('jobTemplate')),
    ...notNegative(spec.successfulJobsHistoryLimit, at.child('successfulJobsHistoryLimit')),
    ...notNegative(spec.failedJobsHistoryLimit, at.child('failedJobsHistoryLimit')),
  ];
}

/** Allows TZ or CRON_TZ in the schedule only if the old schedule has it and spec.timeZone is not set. */
function validateSchedule({ schedule = '', timeZone }: CronJobSpec, before: CronJobSpec | undefined): FieldError[] {
  const scheduleAt = at.child('schedule');
  if (schedule === '') return required(schedule, scheduleAt);
  const refuse = (message: string) => fieldError.invalid(scheduleAt, schedule, message);
  const problem = scheduleProblem(schedule);
  const errors = problem === undefined ? [] : [refuse(problem)];
  if (!zonePattern.test(schedule)) return errors;
  const hadZone = before !== undefined && zonePattern.test(before.schedule ?? '');
  if (!hadZone) errors.push(refuse('cannot use TZ or CRON_TZ in schedule, use timeZone field instead'));
  else if (timeZone !== undefined) errors.push(refuse('cannot use both timeZone field and TZ or CRON_TZ in schedule'));
  return errors;
}

function validateTimeZone(name: string | undefined, before: string | undefined): FieldError[] {
  if (name === undefined || name === before) return [];
  const refuse = (message: string) => [fieldError.invalid(at.child('timeZone'), name, message)];
  if (name === '') return refuse('timeZone must be nil or non-empty string');
  if (name.toLowerCase() === 'local') {
    return refuse('timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones');
  }
  return isTimeZone(name) ? [] : refuse(`unknown time zone ${name}`);
}

function validateJobTemplate({ spec = {} }: JobTemplateSpec, templateAt: FieldPath): FieldError[] {
  const specAt = templateAt.child('spec');
  const errors = validateJobSpec(spec, specAt);
  if (spec.selector) {
    const message = '`selector` will be auto-generated';
    errors.push(fieldError.invalid(specAt.child('selector'), spec.selector, message));
  }
  if (spec.manualSelector) {
    errors.push(fieldError.notSupported(specAt.child('manualSelector'), true, ['nil', 'false']));
  }
  return errors;
}

export const cronJobStatusSubresource = statusSubresource();
