import type {
  ControllerRevision,
  DaemonSet,
  Deployment,
  ReplicaSet,
  StatefulSet,
} from '../../catalog/types/apps.v1.js';
import { controllerOf, type OwnerReference } from '../../machinery/kube-object.js';
import { ageCell, ageColumn, nameColumn, type TableDefinition } from '../../registry/definition/table.js';
import { labelsCell, orNone } from '../core/cells.js';
import { replicaTable } from '../core/pod/replica.table.js';
import { selectorColumn, templateCells, templateColumns } from '../core/pod/template.cells.js';
import { selectorText } from '../core/selector.cells.js';

const readyColumn = {
  name: 'Ready',
  type: 'string',
  description: 'Number of ready Pods, of the desired number.',
} as const;

export const deploymentTable: TableDefinition<Deployment> = {
  columns: [
    nameColumn,
    readyColumn,
    { name: 'Up-to-date', type: 'string', description: 'Number of Pods of the current template.' },
    {
      name: 'Available',
      type: 'string',
      description: 'Number of Pods that have been ready for at least minReadySeconds.',
    },
    ageColumn,
    ...templateColumns,
    selectorColumn,
  ],
  cells: ({ metadata, spec = {}, status = {} }, { nowMs }) => [
    metadata.name ?? '',
    `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
    status.updatedReplicas ?? 0,
    status.availableReplicas ?? 0,
    ageCell(metadata.creationTimestamp, nowMs),
    ...templateCells(spec.template),
    orNone(selectorText(spec.selector)),
  ],
};

export const replicaSetTable: TableDefinition = replicaTable(({ spec }: ReplicaSet) =>
  orNone(selectorText(spec?.selector)),
);

export const statefulSetTable: TableDefinition<StatefulSet> = {
  columns: [nameColumn, readyColumn, ageColumn, ...templateColumns],
  cells: ({ metadata, spec = {}, status = {} }, { nowMs }) => [
    metadata.name ?? '',
    `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
    ageCell(metadata.creationTimestamp, nowMs),
    ...templateCells(spec.template),
  ],
};

export const daemonSetTable: TableDefinition<DaemonSet> = {
  columns: [
    nameColumn,
    { name: 'Desired', type: 'integer', description: 'Number of nodes that should run a Pod of the DaemonSet.' },
    {
      name: 'Current',
      type: 'integer',
      description: 'Number of nodes that should run a Pod of the DaemonSet, and run one.',
    },
    { name: 'Ready', type: 'integer', description: 'Number of nodes with a ready Pod of the DaemonSet.' },
    { name: 'Up-to-date', type: 'integer', description: 'Number of nodes with a Pod of the current template.' },
    {
      name: 'Available',
      type: 'integer',
      description: 'Number of nodes with a Pod that has been ready for at least minReadySeconds.',
    },
    {
      name: 'Node Selector',
      type: 'string',
      description: 'Labels of the nodes that should run a Pod of the DaemonSet.',
    },
    ageColumn,
    ...templateColumns,
    selectorColumn,
  ],
  cells: ({ metadata, spec = {}, status = {} }, { nowMs }) => [
    metadata.name ?? '',
    status.desiredNumberScheduled ?? 0,
    status.currentNumberScheduled ?? 0,
    status.numberReady ?? 0,
    status.updatedNumberScheduled ?? 0,
    status.numberAvailable ?? 0,
    labelsCell(spec.template?.spec?.nodeSelector),
    ageCell(metadata.creationTimestamp, nowMs),
    ...templateCells(spec.template),
    orNone(selectorText(spec.selector)),
  ],
};

export const controllerRevisionTable: TableDefinition<ControllerRevision> = {
  columns: [
    nameColumn,
    { name: 'Controller', type: 'string', description: 'The workload whose template the revision keeps.' },
    { name: 'Revision', type: 'string', description: 'The number of the revision.' },
    ageColumn,
  ],
  cells: (revision, { nowMs }) => [
    revision.metadata.name ?? '',
    orNone(controllerCell(controllerOf(revision))),
    revision.revision ?? 0,
    ageCell(revision.metadata.creationTimestamp, nowMs),
  ],
};

/** `statefulset.apps/web` */
function controllerCell(owner: OwnerReference | undefined): string {
  if (!owner) return '';
  const { apiVersion } = owner;
  const group = apiVersion.includes('/') ? `.${apiVersion.slice(0, apiVersion.indexOf('/'))}` : '';
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
}
