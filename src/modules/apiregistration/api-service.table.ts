import { asFields, asItems, asText, isSet } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const apiServiceTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Service', type: 'string', description: 'The Service that requests go to, or that they stay here.' },
    { name: 'Available', type: 'string', description: 'Whether the version can be reached.' },
    ageColumn,
  ],
  cells(apiService, { nowMs }) {
    const { service } = asFields(apiService['spec']);
    const { namespace, name } = asFields(service);
    return [
      apiService.metadata.name ?? '',
      isSet(service) ? `${asText(namespace)}/${asText(name)}` : 'Local',
      availability(apiService),
      ageCell(apiService.metadata.creationTimestamp, nowMs),
    ];
  },
};

function availability(apiService: KubeObject): string {
  const condition = asItems(asFields(apiService['status'])['conditions']).find(({ type }) => type === 'Available');
  if (!condition) return 'Unknown';
  const status = asText(condition['status']);
  const reason = asText(condition['reason']);
  return status === 'True' || reason === '' ? status : `${status} (${reason})`;
}
