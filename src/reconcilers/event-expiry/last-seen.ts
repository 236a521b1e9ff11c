import { asFields, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';

/** When an Event last told something, by itself: what is known of those that were there before the server was. */
export function lastSeenMs(event: KubeObject): number {
  const times = [
    event.metadata.creationTimestamp,
    event['firstTimestamp'],
    event['lastTimestamp'],
    event['eventTime'],
    asFields(event['series'])['lastObservedTime'],
  ].map((time) => Date.parse(asText(time)));
  return Math.max(0, ...times.filter((time) => !Number.isNaN(time)));
}
