const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** The admission plugins that kube-apiserver v1.36 runs unless they are disabled. */
export const defaultAdmissionPlugins = words(`
  CertificateApproval CertificateSigning CertificateSubjectRestriction ClusterTrustBundleAttest DefaultIngressClass
  DefaultStorageClass DefaultTolerationSeconds LimitRanger MutatingAdmissionPolicy MutatingAdmissionWebhook
  NamespaceLifecycle PersistentVolumeClaimResize PodSecurity PodTopologyLabels Priority ResourceQuota RuntimeClass
  ServiceAccount StorageObjectInUseProtection TaintNodesByCondition ValidatingAdmissionPolicy
  ValidatingAdmissionWebhook`);

/** Those that it runs when they are enabled. */
const otherAdmissionPlugins = words(`
  AlwaysAdmit AlwaysDeny AlwaysPullImages DenyServiceExternalIPs EventRateLimit ExtendedResourceToleration
  ImagePolicyWebhook LimitPodHardAntiAffinityTopology NamespaceAutoProvision NamespaceExists
  NodeDeclaredFeatureValidator NodeRestriction OwnerReferencesPermissionEnforcement PodNodeSelector
  PodTolerationRestriction`);

/** All names that --enable-admission-plugins and --disable-admission-plugins take, whether or not we have the plugin. */
export const admissionPluginNames: readonly string[] = [...defaultAdmissionPlugins, ...otherAdmissionPlugins];
