import type { Event } from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, type FieldError } from '../../machinery/field-error.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { eventStrategy as coreEventStrategy, validateNamespace } from '../core/event.strategy.js';
import { validateReport } from './reported-event.validation.js';

/**
 * The strategy of events.k8s.io/v1. Objects are stored as core/v1, so hooks see its field names; but more fields are
 * required, and only the series can be updated.
 */
export function eventStrategy(naming: NamingProfile): Strategy<Event> {
  const validateFields = (event: Event): FieldError[] =>
    event.eventTime
      ? validateReport(event, 'reportingController', naming.systemNamespace('system'))
      : validateNamespace(event);

  return {
    ...coreEventStrategy,
    validateName: nameIsDnsSubdomain,
    validateCreate: (event) => [...validateFields(event), ...validateSeries(event), ...validateNew(event)],
    validateUpdate: (event, old) => [
      ...validateFields(event),
      ...(deepEqual(event.series, old.series) ? [] : validateSeries(event)),
      ...immutableFields
        .filter((field) => !deepEqual(event[field] ?? null, old[field] ?? null))
        .map((field) => fieldError.invalid(servedName(field), event[field] ?? null, 'field is immutable')),
    ],
  };
}

const immutableFields = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingComponent',
  'reportingInstance',
] as const;

/** The name in events.k8s.io/v1; kube-apiserver translates this field alone. */
const servedName = (field: string): string => (field === 'reportingComponent' ? 'reportingController' : field);

function validateNew(event: Event): FieldError[] {
  const errors: FieldError[] = [];
  const { type = '' } = event;
  if (!event.eventTime) errors.push(fieldError.required('eventTime'));
  if (type !== 'Normal' && type !== 'Warning') {
    errors.push(fieldError.invalid('type', '', `has invalid value: ${type}`));
  }
  const isUnset: Record<string, boolean> = {
    firstTimestamp: !event.firstTimestamp,
    lastTimestamp: !event.lastTimestamp,
    count: !event.count,
    source: Object.keys(event.source ?? {}).length === 0,
  };
  for (const [field, unset] of Object.entries(isUnset)) {
    if (!unset) errors.push(fieldError.invalid(field, '', 'needs to be unset'));
  }
  return errors;
}

function validateSeries({ series }: Event): FieldError[] {
  if (!series) return [];
  const { count = 0, lastObservedTime } = series;
  return [
    ...(count < 2 ? [fieldError.invalid('series.count', '', 'should be at least 2')] : []),
    ...(lastObservedTime ? [] : [fieldError.required('series.lastObservedTime')]),
  ];
}
