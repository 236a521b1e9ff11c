import type { PodTemplateSpec } from '../../../catalog/types/core.v1.js';
import type { TableColumn } from '../../../registry/definition/table.js';

/** The columns about the Pod template, in the tables of all workloads. */
export const templateColumns: readonly TableColumn[] = [
  { name: 'Containers', type: 'string', priority: 1, description: 'Names of the containers of each Pod.' },
  { name: 'Images', type: 'string', priority: 1, description: 'Images of the containers of each Pod.' },
];

export function templateCells(template: PodTemplateSpec | undefined): [containers: string, images: string] {
  const containers = template?.spec?.containers ?? [];
  return [containers.map(({ name = '' }) => name).join(','), containers.map(({ image = '' }) => image).join(',')];
}

export const selectorColumn: TableColumn = {
  name: 'Selector',
  type: 'string',
  priority: 1,
  description: 'Label selector of the Pods that the workload manages.',
};
