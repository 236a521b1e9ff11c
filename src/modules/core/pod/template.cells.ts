import { asFields, asItems, asText } from '../../../machinery/fields.js';
import type { TableColumn } from '../../../registry/definition/table.js';

/** What the tables of all workloads show of the pods they make. */
export const templateColumns: readonly TableColumn[] = [
  { name: 'Containers', type: 'string', priority: 1, description: 'The containers of each pod.' },
  { name: 'Images', type: 'string', priority: 1, description: 'What those containers run.' },
];

export function templateCells(template: unknown): [string, string] {
  const containers = asItems(asFields(asFields(template)['spec'])['containers']);
  const all = (field: string) => containers.map((container) => asText(container[field])).join(',');
  return [all('name'), all('image')];
}

export const selectorColumn: TableColumn = {
  name: 'Selector',
  type: 'string',
  priority: 1,
  description: 'The labels by which it knows its pods.',
};
