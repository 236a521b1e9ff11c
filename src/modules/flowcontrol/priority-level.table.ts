import type { PriorityLevelConfiguration } from '../../catalog/types/flowcontrol.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const priorityLevelTable: TableDefinition<PriorityLevelConfiguration> = {
  columns: [
    nameColumn,
    { name: 'Type', type: 'string', description: 'Limited, or Exempt if its requests are never queued or rejected.' },
    { name: 'NominalConcurrencyShares', type: 'string', description: "Its share of the server's concurrency limit." },
    { name: 'Queues', type: 'string', description: 'Number of queues for waiting requests.' },
    { name: 'HandSize', type: 'string', description: 'Number of queues from which the queue of a request is chosen.' },
    { name: 'QueueLengthLimit', type: 'string', description: 'Maximum number of requests that wait in one queue.' },
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
