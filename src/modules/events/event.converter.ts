import type { KubeObject } from '../../machinery/kube-object.js';

/** What is called otherwise in the core group; every other field is the same there. */
const coreNames = {
  regarding: 'involvedObject',
  note: 'message',
  reportingController: 'reportingComponent',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
} as const;

const ownNames = Object.fromEntries(Object.entries(coreNames).map(([own, core]) => [core, own]));

export function toCoreEvent(event: KubeObject): KubeObject {
  return renamed(event, coreNames);
}

export function fromCoreEvent(event: KubeObject): KubeObject {
  const own = renamed(event, ownNames);
  // The core group says them even when there is nothing to say.
  for (const field of ['reportingController', 'reportingInstance']) if (own[field] === '') delete own[field];
  return own;
}

const parts = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

/** What field selectors may name, and what that is called in the core group. */
export const eventFieldLabels: Readonly<Record<string, string>> = {
  ...Object.fromEntries(parts.map((part) => [`regarding.${part}`, `involvedObject.${part}`])),
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
