import { asItems } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const webhookConfigurationTable: TableDefinition = {
  columns: [nameColumn, { name: 'Webhooks', type: 'integer', description: 'How many webhooks it names.' }, ageColumn],
  cells: (configuration, { nowMs }) => [
    configuration.metadata.name ?? '',
    asItems(configuration['webhooks']).length,
    ageCell(configuration.metadata.creationTimestamp, nowMs),
  ],
};
