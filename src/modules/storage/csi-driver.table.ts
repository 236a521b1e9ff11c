import { asFields, asItems, asText, asTexts } from '../../machinery/fields.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';

export const csiDriverTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'AttachRequired', type: 'boolean', description: 'Whether volumes are attached before they are mounted.' },
    { name: 'PodInfoOnMount', type: 'boolean', description: 'Whether it is told of the pod at each mount.' },
    { name: 'StorageCapacity', type: 'boolean', description: 'Whether it publishes how much room it has.' },
    { name: 'TokenRequests', type: 'string', description: 'The audiences of the tokens that it is given.' },
    { name: 'RequiresRepublish', type: 'boolean', description: 'Whether volumes are published again and again.' },
    { name: 'Modes', type: 'string', description: 'The life cycles that its volumes can have.' },
    ageColumn,
  ],
  cells(driver, { nowMs }) {
    const spec = asFields(driver['spec']);
    const audiences = asItems(spec['tokenRequests']).map((request) => asText(request['audience']));
    return [
      driver.metadata.name ?? '',
      spec['attachRequired'] !== false,
      spec['podInfoOnMount'] === true,
      spec['storageCapacity'] === true,
      audiences.length === 0 ? '<unset>' : audiences.join(','),
      spec['requiresRepublish'] === true,
      asTexts(spec['volumeLifecycleModes']).join(',') || '<none>',
      ageCell(driver.metadata.creationTimestamp, nowMs),
    ];
  },
};
