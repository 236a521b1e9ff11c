import { asFields, asNumber, asText, isSet } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { ageCell, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const eventTable: TableDefinition = {
  columns: [
    { name: 'Last Seen', type: 'string', description: 'Time since it happened last.' },
    { name: 'Type', type: 'string', description: 'Normal, or Warning.' },
    { name: 'Reason', type: 'string', description: 'One word for why it was reported.' },
    { name: 'Object', type: 'string', description: 'What it is about.' },
    { name: 'Subobject', type: 'string', priority: 1, description: 'The part of the object that it is about.' },
    { name: 'Source', type: 'string', priority: 1, description: 'Who reported it, and from where.' },
    { name: 'Message', type: 'string', description: 'What happened, in words.' },
    { name: 'First Seen', type: 'string', priority: 1, description: 'Time since it happened first.' },
    { name: 'Count', type: 'string', priority: 1, description: 'How often it has happened.' },
    { ...nameColumn, priority: 1 },
  ],
  cells(event, { nowMs }) {
    const involved = asFields(event['involvedObject']);
    const kind = asText(involved['kind']).toLowerCase();
    const name = asText(involved['name']);
    const { first, last, count } = occurrences(event);
    return [
      ageCell(last, nowMs),
      asText(event['type']),
      asText(event['reason']),
      name === '' ? kind : `${kind}/${name}`,
      asText(involved['fieldPath']),
      reporter(event),
      asText(event['message']).trim(),
      ageCell(first, nowMs),
      count,
      event.metadata.name ?? '',
    ];
  },
};

/** Reporters count in two ways: by timestamps and a count of their own, or by one time and a series. */
function occurrences(event: KubeObject): { first: string; last: string; count: number } {
  const first = asText(event['firstTimestamp']) || asText(event['eventTime']);
  const series = asFields(event['series']);
  if (isSet(event['series']))
    return { first, last: asText(series['lastObservedTime']), count: asNumber(series['count']) };
  return { first, last: asText(event['lastTimestamp']) || first, count: asNumber(event['count']) || 1 };
}

function reporter(event: KubeObject): string {
  const source = asFields(event['source']);
  const component = asText(source['component']) || asText(event['reportingComponent']);
  const host = asText(source['host']) || asText(event['reportingInstance']);
  return host === '' ? component : `${component}, ${host}`;
}
