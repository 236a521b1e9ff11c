const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** The admission plugins that kube-apiserver v1.36 runs unless they are disabled. */
export const defaultAdmissionPlugins = words(`
  CertificateApproval CertificateSigning CertificateSubjectRestriction ClusterTrustBundleAttest DefaultIngressClass
  DefaultStorageClass DefaultTolerationSeconds JobValidation LimitRanger MutatingAdmissionPolicy MutatingAdmissionWebhook
  NamespaceLifecycle NodeDeclaredFeatureValidator PersistentVolumeClaimResize PodGroupProtection
  PodGroupWorkloadExists PodResizeValidator PodSecurity PodTopologyLabels Priority ResourceQuota RuntimeClass
  ServiceAccount StorageObjectInUseProtection TaintNodesByCondition ValidatingAdmissionPolicy
  ValidatingAdmissionWebhook`);

/** Those that it runs when they are enabled. */
const otherAdmissionPlugins = words(`
  AlwaysAdmit AlwaysDeny AlwaysPullImages DenyServiceExternalIPs EventRateLimit ExtendedResourceToleration
  ImagePolicyWebhook LimitPodHardAntiAffinityTopology NamespaceAutoProvision NamespaceExists
  NodeRestriction OwnerReferencesPermissionEnforcement PodNodeSelector
  PodTolerationRestriction`);

/**
 * Plugins that only run when they are enabled and that are not built in: enabling one is an error, since what it would
 * refuse or change must not pass unseen.
 */
export const missingAdmissionPlugins: readonly string[] = words('ImagePolicyWebhook NamespaceAutoProvision');

/** All names that --enable-admission-plugins and --disable-admission-plugins take, whether or not we have the plugin. */
export const admissionPluginNames: readonly string[] = [...defaultAdmissionPlugins, ...otherAdmissionPlugins];
