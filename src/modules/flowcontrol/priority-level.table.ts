import { asFields, asNumber, asText, isSet } from '../../machinery/fields.js';
import {
  ageCell,
  ageColumn,
  nameColumn,
  type TableCell,
  type TableDefinition,
} from '../../registry/definition/table.js';

export const priorityLevelTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Type', type: 'string', description: 'Whether its requests are limited.' },
    { name: 'NominalConcurrencyShares', type: 'string', description: "Its share of the server's concurrency." },
    { name: 'Queues', type: 'string', description: 'How many queues requests wait in.' },
    { name: 'HandSize', type: 'string', description: 'Among how many queues a flow has its choice.' },
    { name: 'QueueLengthLimit', type: 'string', description: 'How many requests may wait in one queue.' },
    ageColumn,
  ],
  cells(level, { nowMs }) {
    const spec = asFields(level['spec']);
    const shares = asFields(isSet(spec['limited']) ? spec['limited'] : spec['exempt'])['nominalConcurrencyShares'];
    const queuing = asFields(asFields(asFields(spec['limited'])['limitResponse'])['queuing']);
    return [
      level.metadata.name ?? '',
      asText(spec['type']),
      numberOrNone(shares),
      numberOrNone(queuing['queues']),
      numberOrNone(queuing['handSize']),
      numberOrNone(queuing['queueLengthLimit']),
      ageCell(level.metadata.creationTimestamp, nowMs),
    ];
  },
};

const numberOrNone = (value: unknown): TableCell => (isSet(value) ? asNumber(value) : '<none>');
