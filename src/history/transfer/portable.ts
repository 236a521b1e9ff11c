import { asFields, asItems, asText, type Fields } from '../../machinery/fields.js';
import { kindOf } from '../kind-names.js';

/** Kinds whose objects the control plane or nodes make anew in another cluster. */
const localKinds: readonly string[] = [
  'CSINode.storage.k8s.io',
  'CertificateSigningRequest.certificates.k8s.io',
  'ControllerRevision.apps',
  'EndpointSlice.discovery.k8s.io',
  'Endpoints',
  'IPAddress.networking.k8s.io',
  'Node',
  'ServiceCIDR.networking.k8s.io',
  'StorageVersion.internal.apiserver.k8s.io',
  'VolumeAttachment.storage.k8s.io',
];
const everyClustersNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const ownConfigMaps = [
  'extension-apiserver-authentication',
  'kube-apiserver-legacy-service-account-token-tracking',
  'kube-root-ca.crt',
];
/** Marks of objects that servers create and update by themselves. */
const automatic = [
  'kubernetes.io/bootstrapping',
  'apf.kubernetes.io/autoupdate-spec',
  'rbac.authorization.kubernetes.io/autoupdate',
  'kube-aggregator.kubernetes.io/automanaged',
];
const droppedAnnotations =
  /^(kubectl\.kubernetes\.io\/last-applied-configuration|pv\.kubernetes\.io\/|deployment\.kubernetes\.io\/revision)/;
const jobLabels = ['controller-uid', 'batch.kubernetes.io/controller-uid', 'job-name', 'batch.kubernetes.io/job-name'];

/** True for objects that every cluster makes by itself, and for those of controllers unless `withControlled`. */
export function isLeftOut(object: Fields, withControlled: boolean): boolean {
  const { name, labels, annotations, ownerReferences, deletionTimestamp } = asFields(object['metadata']);
  const kind = kindOf(object);
  const marks = { ...asFields(labels), ...asFields(annotations) };
  const isControlled = asItems(ownerReferences).some(({ controller }) => controller === true);
  return (
    localKinds.includes(kind) ||
    deletionTimestamp !== undefined ||
    (isControlled && !withControlled) ||
    automatic.some((mark) => Object.hasOwn(marks, mark)) ||
    (kind === 'Namespace' && everyClustersNamespaces.includes(asText(name))) ||
    (kind === 'ServiceAccount' && name === 'default') ||
    (kind === 'ConfigMap' && ownConfigMaps.includes(asText(name))) ||
    (kind === 'PriorityClass.scheduling.k8s.io' && asText(name).startsWith('system-')) ||
    (kind === 'Service' && name === 'kubernetes') ||
    (kind === 'Secret' && object['type'] === 'kubernetes.io/service-account-token')
  );
}

/** Returns an object without what belongs to its cluster: uids, versions, owners, finalizers, status, addresses, nodes. */
export function portable(object: Fields): Fields {
  const { metadata, status: _status, ...content } = object;
  const { name, namespace, labels, annotations } = asFields(metadata);
  const kept = Object.entries(asFields(annotations)).filter(([key]) => !droppedAnnotations.test(key));
  return portableSpec({
    apiVersion: content['apiVersion'],
    kind: content['kind'],
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels !== undefined && { labels }),
      ...(kept.length > 0 && { annotations: Object.fromEntries(kept) }),
    },
    ...content,
  });
}

function portableSpec(object: Fields): Fields {
  const spec = asFields(object['spec']);
  switch (kindOf(object)) {
    case 'Namespace': {
      const { spec: _spec, ...rest } = object;
      return rest;
    }
    case 'Service':
      return spec['clusterIP'] === 'None' ? object : { ...object, spec: without(spec, ['clusterIP', 'clusterIPs']) };
    case 'Pod':
      return { ...object, spec: podSpec(spec) };
    case 'PersistentVolumeClaim':
      return { ...object, spec: without(spec, ['volumeName']) };
    case 'PersistentVolume': {
      const claim = without(asFields(spec['claimRef']), ['uid', 'resourceVersion']);
      return { ...object, spec: { ...spec, ...(spec['claimRef'] !== undefined && { claimRef: claim }) } };
    }
    case 'Job.batch':
      return spec['manualSelector'] === true ? object : { ...object, spec: jobSpec(spec) };
    default:
      return object;
  }
}

/** Removes the node and the token volume that admission adds again. */
function podSpec(spec: Fields): Fields {
  const isOwn = ({ name }: Fields) => !asText(name).startsWith('kube-api-access-');
  const containers = asItems(spec['containers']).map((container) =>
    container['volumeMounts'] === undefined
      ? container
      : { ...container, volumeMounts: asItems(container['volumeMounts']).filter(isOwn) },
  );
  return { ...without(spec, ['nodeName']), containers, volumes: asItems(spec['volumes']).filter(isOwn) };
}

/** Removes the selector and the labels that are made of the uid. */
function jobSpec(spec: Fields): Fields {
  const template = asFields(spec['template']);
  const metadata = asFields(template['metadata']);
  const labels = without(asFields(metadata['labels']), jobLabels);
  return { ...without(spec, ['selector']), template: { ...template, metadata: { ...metadata, labels } } };
}

function without(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}
