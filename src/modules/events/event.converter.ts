import type * as coreV1 from '../../catalog/types/core.v1.js';
import type * as eventsV1 from '../../catalog/types/events.v1.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { Mutable } from '../../machinery/mutable.js';

/** Field names of events.k8s.io/v1 and their names in core/v1; the other fields have the same name in both. */
const coreNames = {
  regarding: 'involvedObject',
  note: 'message',
  reportingController: 'reportingComponent',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
} as const;

const eventsNames = Object.fromEntries(Object.entries(coreNames).map(([name, coreName]) => [coreName, name]));

export function toCoreEvent(event: eventsV1.Event): coreV1.Event {
  return renamed(event, coreNames);
}

export function fromCoreEvent(event: coreV1.Event): eventsV1.Event {
  const converted: Mutable<eventsV1.Event> = renamed(event, eventsNames);
  // core/v1 writes both even if they are empty.
  if (converted.reportingController === '') delete converted.reportingController;
  if (converted.reportingInstance === '') delete converted.reportingInstance;
  return converted;
}

const referenceFields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

/** The field labels of field selectors, and their names in core/v1. */
export const eventFieldLabels: Readonly<Record<string, string>> = {
  ...Object.fromEntries(referenceFields.map((field) => [`regarding.${field}`, `involvedObject.${field}`])),
  reportingController: 'reportingComponent',
  reason: 'reason',
  type: 'type',
};

function renamed(event: KubeObject, names: Readonly<Record<string, string>>): KubeObject {
  const entries = Object.entries(event).map(([field, value]) => [
    Object.hasOwn(names, field) ? names[field] : field,
    value,
  ]);
  return Object.fromEntries(entries) as KubeObject;
}
