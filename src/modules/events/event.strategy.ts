import type { NamingProfile } from '../../config/naming-profile.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, type FieldError } from '../../machinery/field-error.js';
import { asFields, asNumber, asText, isSet } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { eventStrategy as coreEventStrategy } from '../core/event.strategy.js';
import { validateReport } from './reported-event.validation.js';

/**
 * Events of their own group. They are stored as those of the core group, so that fields have the names of the core
 * group here; but who writes them says everything, and changes nothing later but the series.
 */
export function eventStrategy(naming: NamingProfile): Strategy {
  const validateSaid = (event: KubeObject): FieldError[] =>
    asText(event['eventTime']) === ''
      ? (coreEventStrategy.validateCreate?.(event, nobody) ?? [])
      : validateReport(event, 'reportingController', naming.systemNamespace('system'));

  return {
    ...coreEventStrategy,
    validateName: nameIsDnsSubdomain,
    validateCreate: (event) => [...validateSaid(event), ...validateSeries(event), ...validateNew(event)],
    validateUpdate: (event, old) => [
      ...validateSaid(event),
      ...(deepEqual(event['series'], old['series']) ? [] : validateSeries(event)),
      ...fixed
        .filter((field) => !deepEqual(event[field] ?? null, old[field] ?? null))
        .map((field) => fieldError.invalid(shownAs(field), event[field] ?? null, 'field is immutable')),
    ],
  };
}

const nobody = { user: { name: '', uid: '', groups: [], extra: {} }, now: '' };

const fixed = [
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
];

const shownAs = (field: string): string => (field === 'reportingComponent' ? 'reportingController' : field);

function validateNew(event: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const type = asText(event['type']);
  if (asText(event['eventTime']) === '') errors.push(fieldError.required('eventTime'));
  if (type !== 'Normal' && type !== 'Warning') {
    errors.push(fieldError.invalid('type', '', `has invalid value: ${type}`));
  }
  const isUnset: Record<string, boolean> = {
    firstTimestamp: !isSet(event['firstTimestamp']),
    lastTimestamp: !isSet(event['lastTimestamp']),
    count: asNumber(event['count']) === 0,
    source: Object.keys(asFields(event['source'])).length === 0,
  };
  for (const [field, unset] of Object.entries(isUnset)) {
    if (!unset) errors.push(fieldError.invalid(field, '', 'needs to be unset'));
  }
  return errors;
}

function validateSeries(event: KubeObject): FieldError[] {
  if (!isSet(event['series'])) return [];
  const { count, lastObservedTime } = asFields(event['series']);
  return [
    ...(asNumber(count) < 2 ? [fieldError.invalid('series.count', '', 'should be at least 2')] : []),
    ...(isSet(lastObservedTime) ? [] : [fieldError.required('series.lastObservedTime')]),
  ];
}
