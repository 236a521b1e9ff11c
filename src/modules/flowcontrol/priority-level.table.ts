import type { PriorityLevelConfiguration } from '../../catalog/types/flowcontrol.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const priorityLevelTable: TableDefinition<PriorityLevelConfiguration> = {
  columns: [
    nameColumn,
    { name: 'Type', type: 'string', description: 'Whether its requests are limited.' },
    { name: 'NominalConcurrencyShares', type: 'string', description: "Its share of the server's concurrency." },
    { name: 'Queues', type: 'string', description: 'How many queues requests wait in.' },
    { name: 'HandSize', type: 'string', description: 'Among how many queues a flow has its choice.' },
    { name: 'QueueLengthLimit', type: 'string', description: 'How many requests may wait in one queue.' },
    ageColumn,
  ],
  cells({ metadata, spec = {} }, { nowMs }) {
    const { limited, exempt } = spec;
    const queuing = limited?.limitResponse?.queuing;
    return [
      metadata.name ?? '',
      spec.type ?? '',
      (limited ?? exempt)?.nominalConcurrencyShares ?? none,
      queuing?.queues ?? none,
      queuing?.handSize ?? none,
      queuing?.queueLengthLimit ?? none,
      ageCell(metadata.creationTimestamp, nowMs),
    ];
  },
};

const none = '<none>';
