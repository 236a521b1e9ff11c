import type { ResourceClaim } from '../../catalog/types/resource.v1.js';
import { isSet } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const resourceClaimTable: TableDefinition<ResourceClaim> = {
  columns: [
    nameColumn,
    { name: 'State', type: 'string', description: 'The allocation state: pending, allocated, reserved, deleted.' },
    ageColumn,
  ],
  cells: (claim, { nowMs }) => [
    claim.metadata.name ?? '',
    stateCell(claim),
    ageCell(claim.metadata.creationTimestamp, nowMs),
  ],
};

function stateCell({ metadata, status = {} }: ResourceClaim): string {
  const { allocation, reservedFor = [] } = status;
  const isDeleted = isSet(metadata.deletionTimestamp);
  const states: string[] = [];
  if (isDeleted) states.push('deleted');
  if (allocation) {
    states.push('allocated');
    if (reservedFor.length > 0) states.push('reserved');
  } else if (!isDeleted) states.push('pending');
  return states.join(',');
}
