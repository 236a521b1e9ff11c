import type { Event } from '../../catalog/types/core.v1.js';
import { fieldError, path, type FieldError } from '../../machinery/field-error.js';
import { checked, required } from '../../machinery/field-rules.js';
import { validateQualifiedName } from '../../machinery/names.js';

const reporterLengthMax = 128;
const actionLengthMax = 128;
const reasonLengthMax = 128;
const noteLengthMax = 1024;

/**
 * Validates the fields that an Event with an eventTime must have. Errors have the field names of core/v1, except for
 * the reporter, whose field is named as in the served version.
 */
export function validateReport(event: Event, reporterField: string, systemNamespace: string): FieldError[] {
  const { namespace = '' } = event.metadata;
  const involved = event.involvedObject?.namespace ?? '';
  const reporter = event.reportingComponent ?? '';
  const errors: FieldError[] = [];
  if (involved === '' && namespace !== 'default' && namespace !== systemNamespace) {
    errors.push(fieldError.invalid('involvedObject.namespace', involved, 'does not match event.namespace'));
  }
  return [
    ...errors,
    ...required(reporter, path(reporterField)),
    ...checked(reporter, path(reporterField), validateQualifiedName),
    ...requiredText(event, 'reportingInstance', reporterLengthMax),
    ...requiredText(event, 'action', actionLengthMax),
    ...requiredText(event, 'reason', reasonLengthMax),
    ...validateLength(event, 'message', noteLengthMax),
  ];
}

type TextField = 'reportingInstance' | 'action' | 'reason' | 'message';

function requiredText(event: Event, field: TextField, max: number): FieldError[] {
  return [...required(event[field], path(field)), ...validateLength(event, field, max)];
}

function validateLength(event: Event, field: TextField, max: number): FieldError[] {
  if (Buffer.byteLength(event[field] ?? '') <= max) return [];
  return [fieldError.invalid(field, '', `can have at most ${max} characters`)];
}
