import { asFields, asNumber, asText } from '../../machinery/fields.js';
import type { OwnerReference } from '../../machinery/kube-object.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/table.js';
import { labelsCell, orNone } from '../core/cells.js';
import { replicaTable } from '../core/pod/replica.table.js';
import { selectorColumn, templateCells, templateColumns } from '../core/pod/template.cells.js';
import { selectorText } from '../core/selector.cells.js';

const readyColumn = {
  name: 'Ready',
  type: 'string',
  description: 'Pods that are ready, of all there should be.',
} as const;

export const deploymentTable: TableDefinition = {
  columns: [
    nameColumn,
    readyColumn,
    { name: 'Up-to-date', type: 'string', description: 'Pods that are as the template has them.' },
    { name: 'Available', type: 'string', description: 'Pods that have been ready long enough.' },
    ageColumn,
    ...templateColumns,
    selectorColumn,
  ],
  cells(deployment, { nowMs }) {
    const spec = asFields(deployment['spec']);
    const status = asFields(deployment['status']);
    return [
      deployment.metadata.name ?? '',
      `${asNumber(status['readyReplicas'])}/${asNumber(spec['replicas'])}`,
      asNumber(status['updatedReplicas']),
      asNumber(status['availableReplicas']),
      ageCell(deployment.metadata.creationTimestamp, nowMs),
      ...templateCells(spec['template']),
      orNone(selectorText(spec['selector'])),
    ];
  },
};

export const replicaSetTable: TableDefinition = replicaTable((set) =>
  orNone(selectorText(asFields(set['spec'])['selector'])),
);

export const statefulSetTable: TableDefinition = {
  columns: [nameColumn, readyColumn, ageColumn, ...templateColumns],
  cells(set, { nowMs }) {
    const spec = asFields(set['spec']);
    return [
      set.metadata.name ?? '',
      `${asNumber(asFields(set['status'])['readyReplicas'])}/${asNumber(spec['replicas'])}`,
      ageCell(set.metadata.creationTimestamp, nowMs),
      ...templateCells(spec['template']),
    ];
  },
};

export const daemonSetTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Desired', type: 'integer', description: 'Nodes that should run its pod.' },
    { name: 'Current', type: 'integer', description: 'Nodes that should run its pod and do.' },
    { name: 'Ready', type: 'integer', description: 'Nodes on which its pod is ready.' },
    { name: 'Up-to-date', type: 'integer', description: 'Nodes whose pod is as the template has it.' },
    { name: 'Available', type: 'integer', description: 'Nodes on which its pod has been ready long enough.' },
    { name: 'Node Selector', type: 'string', description: 'The labels of the nodes that it is for.' },
    ageColumn,
    ...templateColumns,
    selectorColumn,
  ],
  cells(set, { nowMs }) {
    const spec = asFields(set['spec']);
    const status = asFields(set['status']);
    const counters = [
      'desiredNumberScheduled',
      'currentNumberScheduled',
      'numberReady',
      'updatedNumberScheduled',
      'numberAvailable',
    ];
    return [
      set.metadata.name ?? '',
      ...counters.map((counter) => asNumber(status[counter])),
      labelsCell(asFields(asFields(spec['template'])['spec'])['nodeSelector']),
      ageCell(set.metadata.creationTimestamp, nowMs),
      ...templateCells(spec['template']),
      orNone(selectorText(spec['selector'])),
    ];
  },
};

export const controllerRevisionTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Controller', type: 'string', description: 'The workload whose state it holds.' },
    { name: 'Revision', type: 'string', description: 'Its place in the order of states.' },
    ageColumn,
  ],
  cells: (revision, { nowMs }) => [
    revision.metadata.name ?? '',
    orNone(controllerCell(revision.metadata.ownerReferences?.find(({ controller }) => controller === true))),
    asNumber(revision['revision']),
    ageCell(revision.metadata.creationTimestamp, nowMs),
  ],
};

/** `statefulset.apps/web` */
function controllerCell(owner: OwnerReference | undefined): string {
  if (!owner) return '';
  const version = asText(owner.apiVersion);
  const group = version.includes('/') ? `.${version.slice(0, version.indexOf('/'))}` : '';
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
}
