/**
 * The gates that --feature-gates may name, by stage and default. Many of them steer other components; they are known
 * so that one list of gates can be handed to a whole control plane.
 */
const gates = {
  alphaOff: `
    APIServingWithRoutine AllowUnsafeMalformedObjectDeletion AuthorizeWithSelectors CBORServingAndStorage
    CPUManagerPolicyAlphaOptions CSIVolumeHealth ClientsAllowCBOR ClientsPreferCBOR
    CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook ComponentFlagz ComponentStatusz
    ConstrainedImpersonation ContainerCheckpoint ContainerStopSignals CrossNamespaceVolumeDataSource
    CustomCPUCFSQuotaPeriod DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaintRules DRADeviceTaints
    DRAExtendedResource DRAPartitionableDevices EventedPLEG GangScheduling GenericWorkload HPAScaleToZero
    InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScalingExclusiveCPUs
    InPlacePodVerticalScalingExclusiveMemory InTreePluginPortworxUnregister KubeletInUserNamespace LoggingAlphaOptions
    MemoryQoS MutablePVNodeAffinity MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs
    NodeDeclaredFeatures PodAndContainerStatsFromCRI PodLogsQuerySplitStreams QOSReserved
    ReduceDefaultCrashLoopBackOffDecay RelaxedServiceNameValidation ResourceHealthStatus
    RestartAllContainersOnContainerExits RuntimeClassInImageCriApi ShardedListAndWatch StorageCapacityScoring
    StorageVersionAPI StrictIPCIDRValidation TaintTolerationComparisonOperators TopologyManagerPolicyAlphaOptions
    UnknownVersionInteroperabilityProxy UserNamespacesHostNetworkSupport VolumeLimitScaling WindowsCPUAndMemoryAffinity`,
  betaOff: `
    CRDObservedGenerationTracking ClusterTrustBundle ClusterTrustBundleProjection ConcurrentWatchObjectDecode
    CoordinatedLeaderElection DeclarativeValidationTakeover LocalStorageCapacityIsolationFSQuotaMonitoring
    MutatingAdmissionPolicy NodeLogQuery PodCertificateRequest SELinuxMount StorageVersionMigrator
    WatchCacheInitializationPostStartHook`,
  betaOn: `
    APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth
    AuthorizePodWebsocketUpgradeCreatePermission CPUManagerPolicyBetaOptions CSIServiceAccountTokenSecrets
    ClearingNominatedNodeNameAfterBinding ContainerRestartRules ContextualLogging DRAAdminAccess DRAPrioritizedList
    DRAResourceClaimDeviceStatus DRASchedulerFilterTimeout DeclarativeValidation
    DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency DisableCPUQuotaWithExclusiveCPUs EnvFiles
    ExternalServiceAccountTokenSigner GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority
    HPAConfigurableTolerance HostnameOverride ImageVolume InOrderInformers InOrderInformersBatchProcess
    KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages KubeletFineGrainedAuthz KubeletPSI
    KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletSeparateDiskGC
    KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot LoggingBetaOptions
    MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge MaxUnavailableStatefulSet
    MutableCSINodeAllocatableCount NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching PodDeletionCost
    PodLevelResources PodReadyToStartContainersCondition PodTopologyLabelsAdmission PortForwardWebsockets
    PreventStaticPodAPIReferences ProcMountType ReloadKubeletServerCertificateFile RemoteRequestHeaderUID
    RotateKubeletServerCertificate SELinuxChangePolicy SELinuxMountReadWriteOncePod SchedulerAsyncAPICalls
    SchedulerAsyncPreemption SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction SizeBasedListCostEstimate
    StatefulSetSemanticRevisionComparison StorageVersionHash StructuredAuthenticationConfigurationEgressSelector
    StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation
    TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation
    UserNamespacesSupport WatchList WatchListClient WindowsGracefulNodeShutdown`,
  stable: `
    APISelfSubjectReview AnonymousAuthConfigurableEndpoints AuthorizeNodeWithSelectors BtreeWatchCache
    ConsistentListFromCache CustomResourceFieldSelectors DynamicResourceAllocation ElasticIndexedJob
    InPlacePodVerticalScaling JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy JobSuccessPolicy
    KubeletTracing APIServerTracing MultiCIDRServiceAllocator NodeInclusionPolicyInPodTopologySpread
    OrderedNamespaceDeletion PodIndexLabel PodLifecycleSleepAction PodSchedulingReadiness RecursiveReadOnlyMounts
    RelaxedEnvironmentVariableValidation ResilientWatchCacheInitialization RetryGenerateName
    ServiceAccountTokenJTI ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation
    ServiceAccountTokenPodNodeInfo ServiceTrafficDistribution SidecarContainers StreamingCollectionEncodingToJSON
    StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration StructuredAuthorizationConfiguration
    SupplementalGroupsPolicy VolumeAttributesClass WatchFromStorageWithoutResourceVersion WinDSR WinOverlay`,
} as const;

type Stage = keyof typeof gates;

const stageOf: ReadonlyMap<string, Stage> = new Map(
  (Object.keys(gates) as Stage[]).flatMap((stage) =>
    gates[stage]
      .trim()
      .split(/\s+/)
      .map((name) => [name, stage] as const),
  ),
);

/** These two move the default of every gate of their stage. */
const groups: Readonly<Record<string, readonly Stage[]>> = { AllAlpha: ['alphaOff'], AllBeta: ['betaOff', 'betaOn'] };

export type FeatureGates = Readonly<Record<string, boolean>>;

export const knownGates: readonly string[] = [...stageOf.keys(), ...Object.keys(groups)];

/** Why a setting is refused, if it is. */
export function gateProblem(name: string, enabled: boolean): string | undefined {
  if (!knownGates.includes(name)) return 'is no known feature gate';
  if (stageOf.get(name) === 'stable' && !enabled) return 'is stable and cannot be switched off';
  return undefined;
}

/** Every known gate with its state. */
export function resolveGates(given: FeatureGates): FeatureGates {
  const resolved = Object.create(null) as Record<string, boolean>;
  for (const [name, stage] of stageOf) resolved[name] = stage === 'betaOn' || stage === 'stable';
  for (const [group, stages] of Object.entries(groups)) {
    const enabled = given[group];
    if (enabled === undefined) continue;
    for (const [name, stage] of stageOf) if (stages.includes(stage)) resolved[name] = enabled;
  }
  for (const [name, enabled] of Object.entries(given)) if (stageOf.has(name)) resolved[name] = enabled;
  return resolved;
}
