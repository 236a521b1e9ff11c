import type { Event } from '../../catalog/types/core.v1.js';
import { ageCell, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const eventTable: TableDefinition<Event> = {
  columns: [
    { name: 'Last Seen', type: 'string', description: 'Time since the last occurrence.' },
    { name: 'Type', type: 'string', description: 'Normal or Warning.' },
    { name: 'Reason', type: 'string', description: 'Reason of the event, as one word in CamelCase.' },
    { name: 'Object', type: 'string', description: 'Kind and name of the object that the event is about.' },
    { name: 'Subobject', type: 'string', priority: 1, description: 'Field of the object that the event is about.' },
    { name: 'Source', type: 'string', priority: 1, description: 'Component that reported the event, and its host.' },
    { name: 'Message', type: 'string', description: 'Description of the event.' },
    { name: 'First Seen', type: 'string', priority: 1, description: 'Time since the first occurrence.' },
    { name: 'Count', type: 'string', priority: 1, description: 'Number of occurrences.' },
    { ...nameColumn, priority: 1 },
  ],
  cells(event, { nowMs }) {
    const { kind: involvedKind = '', name = '', fieldPath = '' } = event.involvedObject ?? {};
    const kind = involvedKind.toLowerCase();
    const { first, last, count } = occurrences(event);
    return [
      ageCell(last, nowMs),
      event.type ?? '',
      event.reason ?? '',
      name === '' ? kind : `${kind}/${name}`,
      fieldPath,
      reporter(event),
      (event.message ?? '').trim(),
      ageCell(first, nowMs),
      count,
      event.metadata.name ?? '',
    ];
  },
};

/** Reads firstTimestamp, lastTimestamp and count, or eventTime and series, which newer reporters set instead. */
function occurrences(event: Event): { first: string; last: string; count: number } {
  const { series } = event;
  const first = event.firstTimestamp || event.eventTime || '';
  if (series) return { first, last: series.lastObservedTime ?? '', count: series.count ?? 0 };
  return { first, last: event.lastTimestamp || first, count: event.count || 1 };
}

function reporter({ source = {}, reportingComponent = '', reportingInstance = '' }: Event): string {
  const component = source.component || reportingComponent;
  const host = source.host || reportingInstance;
  return host === '' ? component : `${component}, ${host}`;
}
