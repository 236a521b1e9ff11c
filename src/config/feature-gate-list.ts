/** Maturity of a feature, as in kube-apiserver. */
export type GateStage = 'Alpha' | 'Beta' | 'GA' | 'Deprecated';

export interface FeatureGate {
  readonly name: string;
  readonly stage: GateStage;
  readonly default: boolean;
  /** True if the gate can only be set to its default; another value fails the start. */
  readonly isLocked: boolean;
}

function gates(stage: GateStage, state: { default: boolean; isLocked?: boolean }, names: string): FeatureGate[] {
  const { default: byDefault, isLocked = false } = state;
  return names
    .trim()
    .split(/\s+/)
    .map((name) => ({ name, stage, default: byDefault, isLocked }));
}

/**
 * Gates that --feature-gates accepts. Many belong to other components or have no effect here; they are accepted so that
 * one list of gates can be used for the whole control plane.
 */
export const featureGates: readonly FeatureGate[] = [
  ...gates(
    'Alpha',
    { default: false },
    `
    APIServingWithRoutine AllAlpha AllowUnsafeMalformedObjectDeletion AuthorizeWithSelectors CBORServingAndStorage
    CPUManagerPolicyAlphaOptions CSIVolumeHealth ClientsAllowCBOR ClientsPreferCBOR
    CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook
    ContainerCheckpoint ContainerStopSignals CrossNamespaceVolumeDataSource
    CustomCPUCFSQuotaPeriod DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaintRules DRADeviceTaints
    DRAExtendedResource DRAPartitionableDevices EventedPLEG GangScheduling GenericWorkload HPAScaleToZero
    ImageVolumeWithDigest InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScalingExclusiveCPUs
    InPlacePodVerticalScalingExclusiveMemory InTreePluginPortworxUnregister KubeletInUserNamespace LoggingAlphaOptions
    ManifestBasedAdmissionControlConfig MemoryQoS MutablePVNodeAffinity MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs
    NodeDeclaredFeatures PodAndContainerStatsFromCRI PodLogsQuerySplitStreams QOSReserved
    ReduceDefaultCrashLoopBackOffDecay RelaxedServiceNameValidation ResourceHealthStatus
    RestartAllContainersOnContainerExits RuntimeClassInImageCriApi ShardedListAndWatch StorageCapacityScoring
    StorageVersionAPI StrictIPCIDRValidation TaintTolerationComparisonOperators TopologyManagerPolicyAlphaOptions
    UnknownVersionInteroperabilityProxy UserNamespacesHostNetworkSupport VolumeLimitScaling
    WindowsCPUAndMemoryAffinity`,
  ),
  ...gates(
    'Beta',
    { default: false },
    `
    AllBeta ClusterTrustBundle ClusterTrustBundleProjection ConcurrentWatchObjectDecode CoordinatedLeaderElection
    DeclarativeValidationTakeover LocalStorageCapacityIsolationFSQuotaMonitoring NodeLogQuery PodCertificateRequest
    SELinuxMount SchedulerAsyncAPICalls StorageVersionMigrator`,
  ),
  ...gates(
    'Beta',
    { default: true },
    `
    APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth AtomicFIFO
    AuthorizePodWebsocketUpgradeCreatePermission CPUManagerPolicyBetaOptions CRDObservedGenerationTracking
    CSIServiceAccountTokenSecrets ClearingNominatedNodeNameAfterBinding ClientsAllowCARotation ClientsAllowTLSCacheGC
    ComponentFlagz ComponentStatusz ConstrainedImpersonation ContainerRestartRules ContextualLogging DRAAdminAccess DRAPrioritizedList DRAResourceClaimDeviceStatus
    DRAResourceClaimGranularStatusAuthorization DRASchedulerFilterTimeout DeclarativeValidation DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency
    DisableCPUQuotaWithExclusiveCPUs EnvFiles ExternalServiceAccountTokenSigner GracefulNodeShutdown
    GracefulNodeShutdownBasedOnPodPriority HPAConfigurableTolerance HostnameOverride ImageVolume
    InOrderInformersBatchProcess KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages KubeletFineGrainedAuthz
    KubeletPSI KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletSeparateDiskGC
    KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot LoggingBetaOptions
    MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge MaxUnavailableStatefulSet
    MutableCSINodeAllocatableCount NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching PodDeletionCost
    PodLevelResources PodReadyToStartContainersCondition PodTopologyLabelsAdmission PortForwardWebsockets
    PreventStaticPodAPIReferences ProcMountType ReloadKubeletServerCertificateFile RemoteRequestHeaderUID
    RotateKubeletServerCertificate SELinuxChangePolicy SELinuxMountReadWriteOncePod SchedulerAsyncPreemption
    SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction SizeBasedListCostEstimate
    StatefulSetSemanticRevisionComparison StorageVersionHash StructuredAuthenticationConfigurationEgressSelector
    StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation
    TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation
    UnlockWhileProcessingFIFO UserNamespacesSupport WatchCacheInitializationPostStartHook WatchList WatchListClient
    WindowsGracefulNodeShutdown`,
  ),
  ...gates('GA', { default: true }, 'InformerResourceVersion TopologyManagerPolicyOptions'),
  ...gates(
    'GA',
    { default: true, isLocked: true },
    `
    APISelfSubjectReview APIServerTracing AnonymousAuthConfigurableEndpoints AnyVolumeDataSource
    AuthorizeNodeWithSelectors BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting CSIMigrationPortworx
    ConsistentListFromCache CustomResourceFieldSelectors DisableAllocatorDualWrite DynamicResourceAllocation
    ElasticIndexedJob ExecProbeTimeout HonorPVReclaimPolicy ImageMaximumGCAge InOrderInformers
    InPlacePodVerticalScaling JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy JobSuccessPolicy
    KubeletCgroupDriverFromCRI KubeletTracing LogarithmicScaleDown MatchLabelKeysInPodAffinity MemoryManager
    MultiCIDRServiceAllocator MutatingAdmissionPolicy NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread
    NodeSwap OrderedNamespaceDeletion PodIndexLabel PodLifecycleSleepAction PodLifecycleSleepActionAllowZero
    PodObservedGenerationTracking PodSchedulingReadiness PreferSameTrafficDistribution RecoverVolumeExpansionFailure
    RecursiveReadOnlyMounts RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation
    ResilientWatchCacheInitialization RetryGenerateName SchedulerQueueingHints SeparateTaintEvictionController
    ServiceAccountTokenJTI ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation
    ServiceAccountTokenPodNodeInfo ServiceTrafficDistribution SidecarContainers StreamingCollectionEncodingToJSON
    StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration StructuredAuthorizationConfiguration
    SupplementalGroupsPolicy SystemdWatchdog TopologyAwareHints VolumeAttributesClass WinDSR WinOverlay`,
  ),
  ...gates(
    'Deprecated',
    { default: true },
    'DisableNodeKubeProxyVersion KubeletPodResourcesListUseActivePods StorageNamespaceIndex',
  ),
  ...gates('Deprecated', { default: true, isLocked: true }, 'AggregatedDiscoveryRemoveBetaType'),
  ...gates(
    'Deprecated',
    { default: false },
    `
    AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests ChangeContainerStatusOnKubeletRestart
    GitRepoVolumeDriver InPlacePodVerticalScalingAllocatedStatus KMSv1 KubeletRegistrationGetOnExistsOnly
    SeparateCacheWatchRPC WindowsHostNetwork`,
  ),
  ...gates(
    'Deprecated',
    { default: false, isLocked: true },
    'AllowOverwriteTerminationGracePeriodSeconds WatchFromStorageWithoutResourceVersion',
  ),
];
