import type { Event } from '../../catalog/types/core.v1.js';

/** Returns the latest time in the fields of an Event, for Events that were written before the server started. */
export function lastSeenMs({ metadata, firstTimestamp, lastTimestamp, eventTime, series }: Event): number {
  const times = [metadata.creationTimestamp, firstTimestamp, lastTimestamp, eventTime, series?.lastObservedTime].map(
    (time) => Date.parse(time ?? ''),
  );
  return Math.max(0, ...times.filter((time) => !Number.isNaN(time)));
}
