import type { Deployment, ReplicaSet, StatefulSet } from '../../catalog/types/apps.v1.js';
import { defineResource, type ResourceDefinition } from '../../registry/definition/resource-definition.js';
import { scaleSubresource } from '../../registry/definition/scale-subresource.js';
import { selectorText } from '../core/selector.cells.js';
import {
  controllerRevisionTable,
  daemonSetTable,
  deploymentTable,
  replicaSetTable,
  statefulSetTable,
} from './apps.tables.js';
import { controllerRevisionStrategy } from './controller-revision.strategy.js';
import { daemonSetStatusSubresource, daemonSetStrategy, generationAnnotation } from './daemon-set.strategy.js';
import { deploymentStatusSubresource, deploymentStrategy } from './deployment.strategy.js';
import { replicaSetStatusSubresource, replicaSetStrategy } from './replica-set.strategy.js';
import { storedDaemonSets, storedDeployments, storedReplicaSets, storedStatefulSets } from './stored-versions.js';
import { statefulSetStatusSubresource, statefulSetStrategy } from './stateful-set.strategy.js';

export const appsVersion = { group: 'apps', version: 'v1' } as const;

const scale = scaleSubresource({
  specReplicas: ['spec', 'replicas'],
  statusReplicas: ['status', 'replicas'],
  selector: ({ spec }: Deployment | ReplicaSet | StatefulSet) => selectorText(spec?.selector),
});

const workload = { ...appsVersion, namespaced: true, categories: ['all'] } as const;

export const appsResources: readonly ResourceDefinition[] = [
  defineResource({
    ...appsVersion,
    kind: 'ControllerRevision',
    plural: 'controllerrevisions',
    namespaced: true,
    strategy: controllerRevisionStrategy,
    table: controllerRevisionTable,
  }),
  defineResource({
    ...workload,
    kind: 'DaemonSet',
    plural: 'daemonsets',
    shortNames: ['ds'],
    strategy: daemonSetStrategy,
    table: daemonSetTable,
    fieldAnnotations: [generationAnnotation],
    subresources: { status: daemonSetStatusSubresource },
    storedVersions: storedDaemonSets,
  }),
  defineResource({
    ...workload,
    kind: 'Deployment',
    plural: 'deployments',
    shortNames: ['deploy'],
    strategy: deploymentStrategy,
    table: deploymentTable,
    subresources: { scale, status: deploymentStatusSubresource },
    storedVersions: storedDeployments,
  }),
  defineResource({
    ...workload,
    kind: 'ReplicaSet',
    plural: 'replicasets',
    shortNames: ['rs'],
    strategy: replicaSetStrategy,
    table: replicaSetTable,
    subresources: { scale, status: replicaSetStatusSubresource },
    storedVersions: storedReplicaSets,
  }),
  defineResource({
    ...workload,
    kind: 'StatefulSet',
    plural: 'statefulsets',
    shortNames: ['sts'],
    strategy: statefulSetStrategy,
    table: statefulSetTable,
    subresources: { scale, status: statefulSetStatusSubresource },
    storedVersions: storedStatefulSets,
  }),
];
