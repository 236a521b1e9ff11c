import { fieldError, type FieldError } from '../../machinery/field-error.js';
import { asFields, asText, fillIn, isSet, makeFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsPathSegment } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';

/** Events of the core group take nearly anything: reporters of all ages write them, and none can do much about an error. */
export const eventStrategy: Strategy = {
  validateName: nameIsPathSegment,
  default(event) {
    makeFields(event, 'involvedObject');
    makeFields(event, 'source');
    for (const time of ['firstTimestamp', 'lastTimestamp', 'eventTime']) event[time] ??= null;
    for (const name of ['reportingComponent', 'reportingInstance']) fillIn(event, name, '');
    if (isSet(event['series'])) asFields(event['series'])['lastObservedTime'] ??= null;
  },
  validateCreate: validateNamespace,
  validateUpdate: validateNamespace,
  deletion: { dependents: 'ignore' },
};

/** What an event is about lives in the event's own namespace; what has no namespace is reported in the default one. */
function validateNamespace(event: KubeObject): FieldError[] {
  const involved = asText(asFields(event['involvedObject'])['namespace']);
  const { namespace = '' } = event.metadata;
  const expected = involved === '' ? 'default' : involved;
  if (namespace === expected || namespace === '') return [];
  return [fieldError.invalid('involvedObject.namespace', involved, 'does not match event.namespace')];
}
