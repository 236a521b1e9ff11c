import type { ValidatingWebhookConfiguration } from '../../catalog/types/admissionregistration.v1.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const webhookConfigurationTable: TableDefinition<ValidatingWebhookConfiguration> = {
  columns: [nameColumn, { name: 'Webhooks', type: 'integer', description: 'The number of webhooks.' }, ageColumn],
  cells: (configuration, { nowMs }) => [
    configuration.metadata.name ?? '',
    (configuration.webhooks ?? []).length,
    ageCell(configuration.metadata.creationTimestamp, nowMs),
  ],
};
