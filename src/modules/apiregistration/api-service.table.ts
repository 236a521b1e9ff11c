import type { APIService } from '../../catalog/types/apiregistration.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const apiServiceTable: TableDefinition<APIService> = {
  columns: [
    nameColumn,
    {
      name: 'Service',
      type: 'string',
      description: 'The Service of the extension API server; Local for versions of this server.',
    },
    { name: 'Available', type: 'string', description: 'The status of the condition Available.' },
    ageColumn,
  ],
  cells(apiService, { nowMs }) {
    const service = apiService.spec?.service;
    return [
      apiService.metadata.name ?? '',
      service ? `${service.namespace ?? ''}/${service.name ?? ''}` : 'Local',
      availability(apiService),
      ageCell(apiService.metadata.creationTimestamp, nowMs),
    ];
  },
};

function availability(apiService: APIService): string {
  const condition = apiService.status?.conditions?.find(({ type }) => type === 'Available');
  if (!condition) return 'Unknown';
  const { status = '', reason = '' } = condition;
  return status === 'True' || reason === '' ? status : `${status} (${reason})`;
}
