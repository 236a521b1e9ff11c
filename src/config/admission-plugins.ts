const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Admission plug-ins that kube-apiserver v1.36 runs by default. */
export const defaultAdmissionPlugins = words(`
  CertificateApproval CertificateSigning CertificateSubjectRestriction ClusterTrustBundleAttest DefaultIngressClass
  DefaultStorageClass DefaultTolerationSeconds JobValidation LimitRanger MutatingAdmissionPolicy MutatingAdmissionWebhook
  NamespaceLifecycle NodeDeclaredFeatureValidator PersistentVolumeClaimResize PodGroupProtection
  PodGroupWorkloadExists PodResizeValidator PodSecurity PodTopologyLabels Priority ResourceQuota RuntimeClass
  ServiceAccount StorageObjectInUseProtection TaintNodesByCondition ValidatingAdmissionPolicy
  ValidatingAdmissionWebhook`);

/** Admission plug-ins that kube-apiserver runs only if they are enabled. */
const otherAdmissionPlugins = words(`
  AlwaysAdmit AlwaysDeny AlwaysPullImages DenyServiceExternalIPs EventRateLimit ExtendedResourceToleration
  ImagePolicyWebhook LimitPodHardAntiAffinityTopology NamespaceAutoProvision NamespaceExists
  NodeRestriction OwnerReferencesPermissionEnforcement PodNodeSelector
  PodTolerationRestriction`);

/**
 * Admission plug-ins that are not implemented. Enabling one is an error, since the policy that it enforces would not
 * apply.
 */
export const missingAdmissionPlugins: readonly string[] = words('ImagePolicyWebhook NamespaceAutoProvision');

/** Names that --enable-admission-plugins and --disable-admission-plugins accept, implemented or not. */
export const admissionPluginNames: readonly string[] = [...defaultAdmissionPlugins, ...otherAdmissionPlugins];
