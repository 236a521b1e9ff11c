import type { Event } from '../../catalog/types/core.v1.js';
import { fieldError, type FieldError } from '../../machinery/field-error.js';
import { nameIsPathSegment } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';

/** Validates only the namespace: reporters of all releases write these Events, and cannot handle a rejected one. */
export const eventStrategy: Strategy<Event> = {
  validateName: nameIsPathSegment,
  default(event) {
    event.involvedObject ??= {};
    event.source ??= {};
    event.firstTimestamp ??= null;
    event.lastTimestamp ??= null;
    event.eventTime ??= null;
    event.reportingComponent ??= '';
    event.reportingInstance ??= '';
    if (event.series) event.series.lastObservedTime ??= null;
  },
  validateCreate: validateNamespace,
  validateUpdate: validateNamespace,
  deletion: { dependents: 'ignore' },
};

/** Requires an Event to be in the namespace of its object; in `default` if the object is cluster-scoped. */
export function validateNamespace({ involvedObject, metadata }: Event): FieldError[] {
  const involved = involvedObject?.namespace ?? '';
  const { namespace = '' } = metadata;
  const expected = involved === '' ? 'default' : involved;
  if (namespace === expected || namespace === '') return [];
  return [fieldError.invalid('involvedObject.namespace', involved, 'does not match event.namespace')];
}
