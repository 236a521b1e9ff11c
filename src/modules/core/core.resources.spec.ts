import { namingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { apiGroupsOf } from '../../registry/apis/api-group.js';
import { coordinationResources } from '../coordination/coordination.resources.js';
import { CoreGroup } from './core.group.js';
import { coreResources } from './core.resources.js';

const naming = namingProfile('kubernetes');
const all = [...coreResources(naming), ...coordinationResources(naming).v1];
const found = new Map(all.map((definition) => [definition.plural, definition]));

// plural → kind, short names, storage prefix, flags: PUT creates, PUT without resourceVersion, DELETE returns the object
it.each<[string, string, string, string, string]>([
  ['componentstatuses', 'ComponentStatus', 'cs', 'componentstatuses', '-u-'],
  ['configmaps', 'ConfigMap', 'cm', 'configmaps', '-u-'],
  ['endpoints', 'Endpoints', 'ep', 'services/endpoints', 'cu-'],
  ['events', 'Event', 'ev', 'events', 'cu-'],
  ['leases', 'Lease', '', 'leases', 'c--'],
  ['limitranges', 'LimitRange', 'limits', 'limitranges', 'cu-'],
  ['namespaces', 'Namespace', 'ns', 'namespaces', '-ud'],
  ['nodes', 'Node', 'no', 'minions', '-u-'],
  ['persistentvolumeclaims', 'PersistentVolumeClaim', 'pvc', 'persistentvolumeclaims', '-ud'],
  ['persistentvolumes', 'PersistentVolume', 'pv', 'persistentvolumes', '-ud'],
  ['pods', 'Pod', 'po', 'pods', '-ud'],
  ['podtemplates', 'PodTemplate', '', 'podtemplates', '-ud'],
  ['replicationcontrollers', 'ReplicationController', 'rc', 'controllers', '-u-'],
  ['resourcequotas', 'ResourceQuota', 'quota', 'resourcequotas', '-ud'],
  ['secrets', 'Secret', '', 'secrets', '-u-'],
  ['serviceaccounts', 'ServiceAccount', 'sa', 'serviceaccounts', '-ud'],
  ['services', 'Service', 'svc', 'services/specs', 'cud'],
])('definition of %s', (plural, kind, shortNames, storagePrefix, wantFlags) => {
  const definition = found.get(plural)!;
  const { allowsCreateOnUpdate, allowsUnconditionalUpdate, returnsDeletedObject } = definition;
  const flags = `${allowsCreateOnUpdate ? 'c' : '-'}${allowsUnconditionalUpdate ? 'u' : '-'}${returnsDeletedObject ? 'd' : '-'}`;
  expect([definition.kind, definition.shortNames.join(), definition.storagePrefix, flags]).toEqual([
    kind,
    shortNames,
    storagePrefix,
    wantFlags,
  ]);
  expect(definition.verbs.includes('deletecollection')).toBe(!['namespaces', 'componentstatuses'].includes(plural));
  expect(definition.table.cells({ kind, apiVersion: 'v1', metadata: {} }, { nowMs: 0 })).toHaveLength(
    definition.table.columns.length,
  );
});

const subresources = (plural: string) => Object.keys(found.get(plural)!.subresources).sort().join();
it('namespaces, nodes, pods, services and secrets have their subresources', () => {
  expect(['namespaces', 'nodes', 'pods', 'services', 'secrets'].map(subresources)).toEqual([
    'finalize,status',
    'proxy,status',
    'attach,binding,ephemeralcontainers,eviction,exec,log,portforward,proxy,resize,status',
    'proxy,status',
    '',
  ]);
});

const object = (rest: object): KubeObject => ({ kind: '', apiVersion: '', metadata: { name: 'x' }, ...rest });
it.each<[string, string, object, string]>([
  ['pods', 'spec.nodeName', { spec: { nodeName: 'n' } }, 'n'],
  ['pods', 'spec.nodeName', {}, ''],
  ['pods', 'spec.hostNetwork', {}, 'false'],
  ['pods', 'spec.hostNetwork', { spec: { hostNetwork: true } }, 'true'],
  ['pods', 'status.podIPs', { status: { podIPs: [{ ip: 'a' }, { ip: 'b' }] } }, 'a,b'],
  ['nodes', 'spec.unschedulable', { spec: { unschedulable: true } }, 'true'],
  ['nodes', 'spec.unschedulable', {}, 'false'],
  ['namespaces', 'name', {}, 'x'],
  ['namespaces', 'status.phase', { status: { phase: 'Active' } }, 'Active'],
  ['secrets', 'type', { type: 'Opaque' }, 'Opaque'],
  ['services', 'spec.clusterIP', { spec: { clusterIP: 'None' } }, 'None'],
  ['replicationcontrollers', 'status.replicas', { status: { replicas: 2 } }, '2'],
  ['replicationcontrollers', 'status.replicas', {}, '0'],
  ['events', 'involvedObject.fieldPath', { involvedObject: { fieldPath: 'f' } }, 'f'],
  ['events', 'source', { reportingComponent: 'r' }, 'r'],
  ['events', 'source', { reportingComponent: 'r', source: { component: 's' } }, 's'],
])('selectable field of %s: %s of %j is %j', (plural, label, rest, want) =>
  expect(found.get(plural)!.selectableFields[label]!(object(rest))).toBe(want),
);

it('pods are indexed by spec.nodeName', () => expect(found.get('pods')!.indexedFields).toEqual(['spec.nodeName']));

it('CoreGroup has a method for every handled subresource and virtual resource', () => {
  const group = apiGroupsOf(Object.create(CoreGroup.prototype) as object, naming)[0]!;
  expect([group.group, group.version]).toEqual(['', 'v1']);
  expect(group.virtual?.map(({ plural }) => plural)).toEqual(['bindings']);
  const handled = group.resources!.flatMap(({ plural, subresources }) =>
    Object.entries(subresources).flatMap(([name, { type }]) => (type === 'handled' ? [`${plural}/${name}`] : [])),
  );
  const marked = group.methods
    .filter(({ as }) => as === 'subresource')
    .map(({ resource, subresource }) => `${resource}/${subresource}`);
  expect(marked.sort()).toEqual(handled.sort());
  expect(group.methods).toContainEqual({ as: 'virtual', resource: 'bindings', method: 'bindByName' });
});
