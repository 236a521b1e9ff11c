import { asFields, asItems, isSet } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const resourceClaimTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'State', type: 'string', description: 'Whether devices were found for it, and are in use.' },
    ageColumn,
  ],
  cells: (claim, { nowMs }) => [
    claim.metadata.name ?? '',
    stateCell(claim),
    ageCell(claim.metadata.creationTimestamp, nowMs),
  ],
};

function stateCell(claim: KubeObject): string {
  const { allocation, reservedFor } = asFields(claim['status']);
  const isDeleted = isSet(claim.metadata.deletionTimestamp);
  const states: string[] = [];
  if (isDeleted) states.push('deleted');
  if (isSet(allocation)) {
    states.push('allocated');
    if (asItems(reservedFor).length > 0) states.push('reserved');
  } else if (!isDeleted) states.push('pending');
  return states.join(',');
}
