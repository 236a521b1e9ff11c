import type { SwitchableRuns } from './runs.js';

type FlagTable = Readonly<Record<string, SwitchableRuns>>;

/**
 * Admission plug-ins that flags can name. Their definitions are in src/admission/plugins.ts, which compiles only if it has
 * each of these names with this default, and no others.
 */
export const implementedPlugins = {
  AlwaysAdmit: 'if enabled',
  AlwaysDeny: 'if enabled',
  AlwaysPullImages: 'if enabled',
  CertificateApproval: 'by default',
  CertificateSigning: 'by default',
  CertificateSubjectRestriction: 'by default',
  ClusterTrustBundleAttest: 'by default',
  DefaultIngressClass: 'by default',
  DefaultStorageClass: 'by default',
  DefaultTolerationSeconds: 'by default',
  DenyServiceExternalIPs: 'if enabled',
  EventRateLimit: 'if enabled',
  ExtendedResourceToleration: 'if enabled',
  LimitPodHardAntiAffinityTopology: 'if enabled',
  LimitRanger: 'by default',
  MutatingAdmissionPolicy: 'by default',
  MutatingAdmissionWebhook: 'by default',
  NamespaceExists: 'if enabled',
  NamespaceLifecycle: 'by default',
  NodeRestriction: 'if enabled',
  OwnerReferencesPermissionEnforcement: 'if enabled',
  PersistentVolumeClaimResize: 'by default',
  PodNodeSelector: 'if enabled',
  PodResizeValidator: 'by default',
  PodSecurity: 'by default',
  PodTolerationRestriction: 'if enabled',
  PodTopologyLabels: 'by default',
  Priority: 'by default',
  ResourceQuota: 'by default',
  RuntimeClass: 'by default',
  ServiceAccount: 'by default',
  StorageObjectInUseProtection: 'by default',
  TaintNodesByCondition: 'by default',
  ValidatingAdmissionPolicy: 'by default',
  ValidatingAdmissionWebhook: 'by default',
} as const satisfies FlagTable;

/** Admission plug-ins of kube-apiserver v1.36 that this server does not implement. Flags accept their names. */
const otherPlugins = {
  ImagePolicyWebhook: 'if enabled',
  JobValidation: 'by default',
  NamespaceAutoProvision: 'if enabled',
  NodeDeclaredFeatureValidator: 'by default',
  PodGroupProtection: 'by default',
  PodGroupWorkloadExists: 'by default',
} as const satisfies FlagTable;

const table: FlagTable = { ...implementedPlugins, ...otherPlugins };

/**
 * Unimplemented plug-ins that are off by default. Enabling one is an error, since the policy that it enforces would not
 * apply.
 */
export const missingAdmissionPlugins: readonly string[] = Object.entries(otherPlugins)
  .filter(([, runs]) => runs === 'if enabled')
  .map(([name]) => name);

/** Names that --enable-admission-plugins and --disable-admission-plugins accept, implemented or not. */
export const admissionPluginNames: readonly string[] = Object.keys(table);
