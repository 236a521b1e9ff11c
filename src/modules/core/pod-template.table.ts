import { asFields } from '../../machinery/fields.js';
import { nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { labelsCell } from './cells.js';
import { templateCells } from './pod/template.cells.js';

export const podTemplateTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Containers', type: 'string', description: 'The containers of each pod.' },
    { name: 'Images', type: 'string', description: 'What those containers run.' },
    { name: 'Pod Labels', type: 'string', description: 'The labels that its pods get.' },
  ],
  cells: (object) => [
    object.metadata.name ?? '',
    ...templateCells(object['template']),
    labelsCell(asFields(asFields(object['template'])['metadata'])['labels']),
  ],
};
