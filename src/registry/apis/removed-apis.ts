import type { NamingProfile } from '../../config/naming-profile.js';
import type { Release } from '../../config/version.js';
import type { GroupVersionKind } from '../../machinery/gvk.js';

/** An API version that an earlier release served, and its replacement. */
export interface RemovedApi extends GroupVersionKind {
  readonly resource: string;
  readonly removed: Release;
  readonly replacement: GroupVersionKind | undefined;
}

interface Row {
  readonly removed: Release;
  /** `<group>/<version>`. A group that ends with "." gets the configured domain. */
  readonly was: string;
  readonly is: string | undefined;
  readonly kinds: Readonly<Record<string, string>>;
}

const flowControl = { flowschemas: 'FlowSchema', prioritylevelconfigurations: 'PriorityLevelConfiguration' };
const daemonSets = { daemonsets: 'DaemonSet' };
const deployments = { deployments: 'Deployment' };
const replicaSets = { replicasets: 'ReplicaSet' };
const statefulSets = { statefulsets: 'StatefulSet' };
const revisions = { controllerrevisions: 'ControllerRevision' };

/**
 * Removed APIs, newest first. Replacements that were removed later are skipped, so every replacement here is served. A
 * version such as storage/v1beta1 may be served again for other kinds, so rows list kinds.
 */
const rows: readonly Row[] = [
  { removed: '1.32', was: 'flowcontrol.apiserver./v1beta3', is: 'flowcontrol.apiserver./v1', kinds: flowControl },
  { removed: '1.29', was: 'flowcontrol.apiserver./v1beta2', is: 'flowcontrol.apiserver./v1', kinds: flowControl },
  {
    removed: '1.27',
    was: 'storage./v1beta1',
    is: 'storage./v1',
    kinds: { csistoragecapacities: 'CSIStorageCapacity' },
  },
  { removed: '1.26', was: 'flowcontrol.apiserver./v1beta1', is: 'flowcontrol.apiserver./v1', kinds: flowControl },
  {
    ...{ removed: '1.26', was: 'autoscaling/v2beta2', is: 'autoscaling/v2' },
    kinds: { horizontalpodautoscalers: 'HorizontalPodAutoscaler' },
  },
  {
    ...{ removed: '1.25', was: 'autoscaling/v2beta1', is: 'autoscaling/v2' },
    kinds: { horizontalpodautoscalers: 'HorizontalPodAutoscaler' },
  },
  { removed: '1.25', was: 'batch/v1beta1', is: 'batch/v1', kinds: { cronjobs: 'CronJob' } },
  { removed: '1.25', was: 'discovery./v1beta1', is: 'discovery./v1', kinds: { endpointslices: 'EndpointSlice' } },
  { removed: '1.25', was: 'events./v1beta1', is: 'events./v1', kinds: { events: 'Event' } },
  { removed: '1.25', was: 'policy/v1beta1', is: 'policy/v1', kinds: { poddisruptionbudgets: 'PodDisruptionBudget' } },
  { removed: '1.25', was: 'policy/v1beta1', is: undefined, kinds: { podsecuritypolicies: 'PodSecurityPolicy' } },
  { removed: '1.25', was: 'node./v1beta1', is: 'node./v1', kinds: { runtimeclasses: 'RuntimeClass' } },
  {
    ...{ removed: '1.22', was: 'admissionregistration./v1beta1', is: 'admissionregistration./v1' },
    kinds: {
      mutatingwebhookconfigurations: 'MutatingWebhookConfiguration',
      validatingwebhookconfigurations: 'ValidatingWebhookConfiguration',
    },
  },
  {
    ...{ removed: '1.22', was: 'apiextensions./v1beta1', is: 'apiextensions./v1' },
    kinds: { customresourcedefinitions: 'CustomResourceDefinition' },
  },
  { removed: '1.22', was: 'apiregistration./v1beta1', is: 'apiregistration./v1', kinds: { apiservices: 'APIService' } },
  { removed: '1.22', was: 'authentication./v1beta1', is: 'authentication./v1', kinds: { tokenreviews: 'TokenReview' } },
  {
    ...{ removed: '1.22', was: 'authorization./v1beta1', is: 'authorization./v1' },
    kinds: {
      localsubjectaccessreviews: 'LocalSubjectAccessReview',
      selfsubjectaccessreviews: 'SelfSubjectAccessReview',
      selfsubjectrulesreviews: 'SelfSubjectRulesReview',
      subjectaccessreviews: 'SubjectAccessReview',
    },
  },
  {
    ...{ removed: '1.22', was: 'certificates./v1beta1', is: 'certificates./v1' },
    kinds: { certificatesigningrequests: 'CertificateSigningRequest' },
  },
  { removed: '1.22', was: 'coordination./v1beta1', is: 'coordination./v1', kinds: { leases: 'Lease' } },
  { removed: '1.22', was: 'extensions/v1beta1', is: 'networking./v1', kinds: { ingresses: 'Ingress' } },
  {
    ...{ removed: '1.22', was: 'networking./v1beta1', is: 'networking./v1' },
    kinds: { ingresses: 'Ingress', ingressclasses: 'IngressClass' },
  },
  {
    ...{ removed: '1.22', was: 'rbac.authorization./v1beta1', is: 'rbac.authorization./v1' },
    kinds: {
      clusterroles: 'ClusterRole',
      clusterrolebindings: 'ClusterRoleBinding',
      roles: 'Role',
      rolebindings: 'RoleBinding',
    },
  },
  {
    ...{ removed: '1.22', was: 'scheduling./v1beta1', is: 'scheduling./v1' },
    kinds: { priorityclasses: 'PriorityClass' },
  },
  {
    ...{ removed: '1.22', was: 'storage./v1beta1', is: 'storage./v1' },
    kinds: {
      csidrivers: 'CSIDriver',
      csinodes: 'CSINode',
      storageclasses: 'StorageClass',
      volumeattachments: 'VolumeAttachment',
    },
  },
  { removed: '1.16', was: 'extensions/v1beta1', is: 'networking./v1', kinds: { networkpolicies: 'NetworkPolicy' } },
  {
    ...{ removed: '1.16', was: 'extensions/v1beta1', is: 'apps/v1' },
    kinds: { ...daemonSets, ...deployments, ...replicaSets },
  },
  { removed: '1.16', was: 'extensions/v1beta1', is: undefined, kinds: { podsecuritypolicies: 'PodSecurityPolicy' } },
  {
    ...{ removed: '1.16', was: 'apps/v1beta1', is: 'apps/v1' },
    kinds: { ...deployments, ...statefulSets, ...revisions },
  },
  {
    ...{ removed: '1.16', was: 'apps/v1beta2', is: 'apps/v1' },
    kinds: { ...daemonSets, ...deployments, ...replicaSets, ...statefulSets, ...revisions },
  },
];

/** Returns all removed APIs with the configured group names. */
export function removedApis(naming: NamingProfile): readonly RemovedApi[] {
  const named = (text: string) => {
    const [group = '', version = ''] = text.split('/');
    return { group: group.endsWith('.') ? naming.group(group.slice(0, -1)) : group, version };
  };
  return rows.flatMap(({ removed, was, is, kinds }) =>
    Object.entries(kinds).map(([resource, kind]) => ({
      ...named(was),
      kind,
      resource,
      removed,
      replacement: is === undefined ? undefined : { ...named(is), kind },
    })),
  );
}
