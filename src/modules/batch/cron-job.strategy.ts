import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { notNegative, oneOf, required } from '../../machinery/field-rules.js';
import { asFields, asText, fillIn, fillInZero, isSet, makeFields, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { defaultPodTemplate, workloadWarnings } from '../core/pod/pod-template.js';
import { isTimeZone, scheduleProblem } from './cron-schedule.js';
import { defaultFailurePolicy } from './job.defaults.js';
import { validateJobSpec } from './job.validation.js';

export const cronJobStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default: defaultCronJob,
  prepareForCreate(cronJob) {
    cronJob['status'] = {};
  },
  prepareForUpdate(cronJob, old) {
    cronJob['status'] = old['status'];
  },
  validateCreate: (cronJob) => [...validateName(cronJob), ...validateCronJob(asFields(cronJob['spec']), undefined)],
  validateUpdate: (cronJob, old) => validateCronJob(asFields(cronJob['spec']), asFields(old['spec'])),
  warnings(cronJob, old) {
    const spec = asFields(cronJob['spec']);
    const texts: string[] = [];
    if (zonePattern.test(asText(spec['schedule']))) {
      texts.push('cannot use TZ or CRON_TZ in spec.schedule, use spec.timeZone instead');
    }
    return [...texts, ...templateWarnings(cronJob, old)];
  },
};

const templateWarnings = workloadWarnings(
  (cronJob) => asFields(asFields(asFields(cronJob['spec'])['jobTemplate'])['spec'])['template'],
  'spec.jobTemplate.spec.template',
);

const zonePattern = /TZ/;

function defaultCronJob(cronJob: KubeObject): void {
  const spec = makeFields(cronJob, 'spec');
  fillInZero(spec, 'concurrencyPolicy', 'Allow');
  fillIn(spec, 'suspend', false);
  fillIn(spec, 'successfulJobsHistoryLimit', 3);
  fillIn(spec, 'failedJobsHistoryLimit', 1);
  const template = makeFields(spec, 'jobTemplate');
  fillIn(template, 'metadata', {});
  // What else a job is given, it is given when it is made.
  const jobSpec = makeFields(template, 'spec');
  defaultPodTemplate(jobSpec);
  defaultFailurePolicy(asFields(jobSpec['podFailurePolicy']));
  makeFields(cronJob, 'status');
}

/** Names of its jobs are its own with eleven more characters, and theirs must be labels. */
const nameLengthMax = 52;

function validateName({ metadata: { name = '' } }: KubeObject): FieldError[] {
  if (name.length <= nameLengthMax) return [];
  return [fieldError.invalid('metadata.name', name, `must be no more than ${nameLengthMax} characters`)];
}

const at = path('spec');

function validateCronJob(spec: Fields, before: Fields | undefined): FieldError[] {
  return [
    ...validateSchedule(spec, before),
    ...notNegative(spec['startingDeadlineSeconds'], at.child('startingDeadlineSeconds')),
    ...validateTimeZone(spec['timeZone'], before?.['timeZone']),
    ...oneOf(asText(spec['concurrencyPolicy']), at.child('concurrencyPolicy'), ['Allow', 'Forbid', 'Replace']),
    ...validateJobTemplate(asFields(spec['jobTemplate']), at.child('jobTemplate')),
    ...notNegative(spec['successfulJobsHistoryLimit'], at.child('successfulJobsHistoryLimit')),
    ...notNegative(spec['failedJobsHistoryLimit'], at.child('failedJobsHistoryLimit')),
  ];
}

/** Zones inside of schedules are older than their own field: who has one keeps it as long as nothing else is said. */
function validateSchedule(spec: Fields, before: Fields | undefined): FieldError[] {
  const scheduleAt = at.child('schedule');
  const schedule = asText(spec['schedule']);
  if (schedule === '') return required(schedule, scheduleAt);
  const refuse = (message: string) => fieldError.invalid(String(scheduleAt), schedule, message);
  const problem = scheduleProblem(schedule);
  const errors = problem === undefined ? [] : [refuse(problem)];
  if (!zonePattern.test(schedule)) return errors;
  const hadOne = before !== undefined && zonePattern.test(asText(before['schedule']));
  if (!hadOne) errors.push(refuse('cannot use TZ or CRON_TZ in schedule, use timeZone field instead'));
  else if (isSet(spec['timeZone'])) errors.push(refuse('cannot use both timeZone field and TZ or CRON_TZ in schedule'));
  return errors;
}

function validateTimeZone(zone: unknown, before: unknown): FieldError[] {
  if (!isSet(zone) || zone === before) return [];
  const name = asText(zone);
  const refuse = (message: string) => [fieldError.invalid(String(at.child('timeZone')), name, message)];
  if (name === '') return refuse('timeZone must be nil or non-empty string');
  if (name.toLowerCase() === 'local') {
    return refuse('timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones');
  }
  return isTimeZone(name) ? [] : refuse(`unknown time zone ${name}`);
}

function validateJobTemplate(template: Fields, templateAt: FieldPath): FieldError[] {
  const spec = asFields(template['spec']);
  const specAt = templateAt.child('spec');
  const errors = validateJobSpec(spec, specAt);
  if (isSet(spec['selector'])) {
    const message = '`selector` will be auto-generated';
    errors.push(fieldError.invalid(String(specAt.child('selector')), spec['selector'], message));
  }
  if (spec['manualSelector'] === true) {
    errors.push(fieldError.notSupported(String(specAt.child('manualSelector')), true, ['nil', 'false']));
  }
  return errors;
}

export const cronJobStatusSubresource = statusSubresource();
