import type { PodTemplate } from '../../catalog/types/core.v1.js';
import { nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { labelsCell } from './cells.js';
import { templateCells } from './pod/template.cells.js';

export const podTemplateTable: TableDefinition<PodTemplate> = {
  columns: [
    nameColumn,
    { name: 'Containers', type: 'string', description: 'Names of the containers of each Pod.' },
    { name: 'Images', type: 'string', description: 'Images of the containers of each Pod.' },
    { name: 'Pod Labels', type: 'string', description: 'Labels of each Pod.' },
  ],
  cells: ({ metadata, template }) => [
    metadata.name ?? '',
    ...templateCells(template),
    labelsCell(template?.metadata?.labels),
  ],
};
