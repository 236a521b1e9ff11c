import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked, required } from '../../machinery/field-rules.js';
import { asFields, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { validateQualifiedName } from '../../machinery/names.js';

const reporterLengthMax = 128;
const actionLengthMax = 128;
const reasonLengthMax = 128;
const noteLengthMax = 1024;

/**
 * What must be said by whoever reports an event with an eventTime: who did what and why. Fields have the names of the
 * core group, except for the reporter, who is called as in the version that was asked for.
 */
export function validateReport(event: KubeObject, reporterField: string, systemNamespace: string): FieldError[] {
  const { namespace = '' } = event.metadata;
  const involved = asText(asFields(event['involvedObject'])['namespace']);
  const reporter = asText(event['reportingComponent']);
  const errors: FieldError[] = [];
  if (involved === '' && namespace !== 'default' && namespace !== systemNamespace) {
    errors.push(fieldError.invalid('involvedObject.namespace', involved, 'does not match event.namespace'));
  }
  return [
    ...errors,
    ...required(reporter, path(reporterField)),
    ...checked(reporter, path(reporterField), validateQualifiedName),
    ...saidBriefly(event, 'reportingInstance', reporterLengthMax),
    ...saidBriefly(event, 'action', actionLengthMax),
    ...saidBriefly(event, 'reason', reasonLengthMax),
    ...brief(event, 'message', noteLengthMax),
  ];
}

function saidBriefly(event: KubeObject, field: string, max: number): FieldError[] {
  return [...required(event[field], path(field)), ...brief(event, field, max)];
}

function brief(event: KubeObject, field: string, max: number): FieldError[] {
  if (Buffer.byteLength(asText(event[field])) <= max) return [];
  return [fieldError.invalid(field, '', `can have at most ${max} characters`)];
}
