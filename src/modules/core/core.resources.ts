import type {
  Event,
  Namespace,
  Node,
  ObjectReference,
  Pod,
  ReplicationController,
  Secret,
  Service,
} from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { allVerbs, defineResource, type ResourceDefinition } from '../../registry/definition/resource-definition.js';
import { scaleSubresource } from '../../registry/definition/scale-subresource.js';
import { defaultTable } from '../../registry/definition/table.js';
import { componentStatusStrategy, componentStatusTable } from './component-status.js';
import { configMapStrategy } from './config-map.strategy.js';
import { configMapTable } from './config-map.table.js';
import { nodeConnections, podConnections, serviceConnections } from './connection-subresources.js';
import { coreVersion } from './core.version.js';
import { endpointsStrategy } from './endpoints.strategy.js';
import { endpointsTable } from './endpoints.table.js';
import { eventStrategy } from './event.strategy.js';
import { eventTable } from './event.table.js';
import { finalizeSubresource, namespaceStatusSubresource, namespaceStrategy } from './namespace.strategy.js';
import { limitRangeStrategy } from './limit-range.strategy.js';
import { namespaceTable } from './namespace.table.js';
import { nodeStatusSubresource, nodeStrategy } from './node.strategy.js';
import { nodeTable } from './node.table.js';
import { podRules } from './pod/pod.strategy.js';
import { podTable } from './pod/pod.table.js';
import { podTemplateStrategy } from './pod-template.strategy.js';
import { podTemplateTable } from './pod-template.table.js';
import {
  persistentVolumeClaimStatusSubresource,
  persistentVolumeClaimStrategy,
} from './persistent-volume-claim.strategy.js';
import { persistentVolumeClaimTable } from './persistent-volume-claim.table.js';
import { persistentVolumeStatusSubresource, persistentVolumeStrategy } from './persistent-volume.strategy.js';
import { persistentVolumeTable } from './persistent-volume.table.js';
import {
  replicationControllerStatusSubresource,
  replicationControllerStrategy,
} from './replication-controller.strategy.js';
import { replicationControllerTable } from './replication-controller.table.js';
import { resourceQuotaStatusSubresource, resourceQuotaStrategy } from './resource-quota.strategy.js';
import { resourceQuotaTable } from './resource-quota.table.js';
import { secretStrategy } from './secret.strategy.js';
import { secretTable } from './secret.table.js';
import { serviceAccountStrategy } from './service-account.strategy.js';
import { serviceAccountTable } from './service-account.table.js';
import { serviceStatusSubresource, serviceStrategy } from './service.strategy.js';
import { serviceTable } from './service.table.js';

export const bindingKind = { ...coreVersion, kind: 'Binding' } as const;
export const evictionKind = { group: 'policy', version: 'v1', kind: 'Eviction' } as const;

/** Functions that read the fields of a kind that field selectors may use. */
type SelectableFields<T> = Readonly<Record<string, (object: T) => string>>;

/** The resources of the core group, in the order of kubectl's table of resource types. */
export function coreResources(naming: NamingProfile): readonly ResourceDefinition[] {
  const pods = podRules(naming);
  return [
    defineResource({
      ...coreVersion,
      kind: 'ComponentStatus',
      plural: 'componentstatuses',
      shortNames: ['cs'],
      namespaced: false,
      verbs: ['get', 'list'],
      strategy: componentStatusStrategy,
      table: componentStatusTable,
    }),
    defineResource({
      ...coreVersion,
      kind: 'ConfigMap',
      plural: 'configmaps',
      shortNames: ['cm'],
      namespaced: true,
      strategy: configMapStrategy,
      table: configMapTable,
    }),
    defineResource({
      ...coreVersion,
      kind: 'Endpoints',
      plural: 'endpoints',
      shortNames: ['ep'],
      namespaced: true,
      storagePrefix: 'services/endpoints',
      strategy: endpointsStrategy,
      table: endpointsTable,
      allowsCreateOnUpdate: true,
    }),
    defineResource({
      ...coreVersion,
      kind: 'Event',
      plural: 'events',
      shortNames: ['ev'],
      namespaced: true,
      selectableFields: eventFields,
      strategy: eventStrategy,
      table: eventTable,
      allowsCreateOnUpdate: true,
    }),
    defineResource({
      ...coreVersion,
      kind: 'LimitRange',
      plural: 'limitranges',
      shortNames: ['limits'],
      namespaced: true,
      strategy: limitRangeStrategy,
      table: defaultTable,
      allowsCreateOnUpdate: true,
    }),
    defineResource({
      ...coreVersion,
      kind: 'Namespace',
      plural: 'namespaces',
      shortNames: ['ns'],
      namespaced: false,
      verbs: allVerbs.filter((verb) => verb !== 'deletecollection'),
      selectableFields: namespaceFields,
      strategy: namespaceStrategy(naming),
      table: namespaceTable,
      subresources: { finalize: finalizeSubresource(naming), status: namespaceStatusSubresource },
      returnsDeletedObject: true,
    }),
    defineResource({
      ...coreVersion,
      kind: 'Node',
      plural: 'nodes',
      shortNames: ['no'],
      namespaced: false,
      storagePrefix: 'minions',
      selectableFields: { 'spec.unschedulable': ({ spec }: Node) => String(spec?.unschedulable ?? false) },
      strategy: nodeStrategy(naming),
      table: nodeTable(naming),
      subresources: { ...nodeConnections, status: nodeStatusSubresource },
    }),
    defineResource({
      ...coreVersion,
      kind: 'PersistentVolumeClaim',
      plural: 'persistentvolumeclaims',
      shortNames: ['pvc'],
      namespaced: true,
      strategy: persistentVolumeClaimStrategy(naming),
      table: persistentVolumeClaimTable(naming),
      subresources: { status: persistentVolumeClaimStatusSubresource },
      returnsDeletedObject: true,
    }),
    defineResource({
      ...coreVersion,
      kind: 'PersistentVolume',
      plural: 'persistentvolumes',
      shortNames: ['pv'],
      namespaced: false,
      strategy: persistentVolumeStrategy,
      table: persistentVolumeTable(naming),
      subresources: { status: persistentVolumeStatusSubresource },
      returnsDeletedObject: true,
    }),
    defineResource({
      ...coreVersion,
      kind: 'Pod',
      plural: 'pods',
      shortNames: ['po'],
      categories: ['all'],
      namespaced: true,
      selectableFields: podFields,
      indexedFields: ['spec.nodeName'],
      strategy: pods.strategy,
      table: podTable,
      subresources: {
        binding: { type: 'handled', verbs: ['create'], kind: bindingKind, validatesAdmission: true },
        ...podConnections,
        ephemeralcontainers: pods.ephemeralContainersSubresource,
        eviction: {
          type: 'handled',
          verbs: ['create'],
          kind: evictionKind,
          alsoVersions: ['v1beta1'],
          validatesAdmission: true,
        },
        resize: pods.resizeSubresource,
        status: pods.statusSubresource,
      },
      returnsDeletedObject: true,
    }),
    defineResource({
      ...coreVersion,
      kind: 'PodTemplate',
      plural: 'podtemplates',
      namespaced: true,
      strategy: podTemplateStrategy,
      table: podTemplateTable,
      returnsDeletedObject: true,
    }),
    defineResource({
      ...coreVersion,
      kind: 'ReplicationController',
      plural: 'replicationcontrollers',
      shortNames: ['rc'],
      categories: ['all'],
      namespaced: true,
      storagePrefix: 'controllers',
      selectableFields: {
        'status.replicas': ({ status }: ReplicationController) => String(status?.replicas ?? 0),
      },
      strategy: replicationControllerStrategy,
      table: replicationControllerTable,
      subresources: {
        scale: scaleSubresource({
          specReplicas: ['spec', 'replicas'],
          statusReplicas: ['status', 'replicas'],
          selector: plainSelectorText,
        }),
        status: replicationControllerStatusSubresource,
      },
    }),
    defineResource({
      ...coreVersion,
      kind: 'ResourceQuota',
      plural: 'resourcequotas',
      shortNames: ['quota'],
      namespaced: true,
      strategy: resourceQuotaStrategy,
      table: resourceQuotaTable,
      subresources: { status: resourceQuotaStatusSubresource },
      returnsDeletedObject: true,
    }),
    defineResource({
      ...coreVersion,
      kind: 'Secret',
      plural: 'secrets',
      namespaced: true,
      selectableFields: { type: ({ type = '' }: Secret) => type },
      strategy: secretStrategy(naming),
      table: secretTable,
    }),
    defineResource({
      ...coreVersion,
      kind: 'ServiceAccount',
      plural: 'serviceaccounts',
      shortNames: ['sa'],
      namespaced: true,
      strategy: serviceAccountStrategy,
      table: serviceAccountTable,
      subresources: {
        token: {
          type: 'handled',
          validatesAdmission: true,
          verbs: ['create'],
          kind: { group: naming.group('authentication'), version: 'v1', kind: 'TokenRequest' },
        },
      },
      returnsDeletedObject: true,
    }),
    defineResource({
      ...coreVersion,
      kind: 'Service',
      plural: 'services',
      shortNames: ['svc'],
      categories: ['all'],
      namespaced: true,
      storagePrefix: 'services/specs',
      selectableFields: serviceFields,
      strategy: serviceStrategy,
      table: serviceTable,
      subresources: { ...serviceConnections, status: serviceStatusSubresource },
      allowsCreateOnUpdate: true,
      returnsDeletedObject: true,
    }),
  ];
}

function plainSelectorText({ spec }: ReplicationController): string {
  const pairs = Object.entries(spec?.selector ?? {}).map(([key, value]) => `${key}=${value}`);
  return pairs.sort().join(',');
}

const namespaceFields: SelectableFields<Namespace> = {
  'status.phase': ({ status }) => status?.phase ?? '',
  name: ({ metadata }) => metadata.name ?? '',
};

const podFields: SelectableFields<Pod> = {
  'spec.nodeName': ({ spec }) => spec?.nodeName ?? '',
  'spec.restartPolicy': ({ spec }) => spec?.restartPolicy ?? '',
  'spec.schedulerName': ({ spec }) => spec?.schedulerName ?? '',
  'spec.serviceAccountName': ({ spec }) => spec?.serviceAccountName ?? '',
  'spec.hostNetwork': ({ spec }) => String(spec?.hostNetwork ?? false),
  'status.phase': ({ status }) => status?.phase ?? '',
  'status.podIP': ({ status }) => status?.podIP ?? '',
  'status.podIPs': ({ status }) => (status?.podIPs ?? []).map(({ ip = '' }) => ip).join(','),
  'status.nominatedNodeName': ({ status }) => status?.nominatedNodeName ?? '',
};

const serviceFields: SelectableFields<Service> = {
  'spec.clusterIP': ({ spec }) => spec?.clusterIP ?? '',
  'spec.type': ({ spec }) => spec?.type ?? '',
};

const involvedObjectField =
  (field: keyof ObjectReference) =>
  ({ involvedObject }: Event): string =>
    involvedObject?.[field] ?? '';

const eventFields: SelectableFields<Event> = {
  'involvedObject.kind': involvedObjectField('kind'),
  'involvedObject.namespace': involvedObjectField('namespace'),
  'involvedObject.name': involvedObjectField('name'),
  'involvedObject.uid': involvedObjectField('uid'),
  'involvedObject.apiVersion': involvedObjectField('apiVersion'),
  'involvedObject.resourceVersion': involvedObjectField('resourceVersion'),
  'involvedObject.fieldPath': involvedObjectField('fieldPath'),
  reason: ({ reason = '' }) => reason,
  reportingComponent: ({ reportingComponent = '' }) => reportingComponent,
  source: ({ source, reportingComponent = '' }) => source?.component || reportingComponent,
  type: ({ type = '' }) => type,
};
