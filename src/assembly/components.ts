import type { AdmissionPluginDefinition } from '../admission/admission-plugin.js';
import type { Aggregation } from '../aggregation/aggregation.js';
import type { Auditor } from '../audit/auditor.js';
import type { Live } from '../certificates/live.js';
import type { KeyPairPem } from '../certificates/pem.js';
import type { Encoding } from '../codec/encoding.js';
import { makeEncodings } from '../codec/encodings.js';
import type { ServerConfig } from '../config/server-config.js';
import { versionDocument, type VersionDocument } from '../config/version-document.js';
import type { ConverterDependencies } from '../custom-kinds/conversion/webhook-converter.js';
import { ForwardedRequests } from '../endpoints/forwarded-requests.js';
import { HealthChecks } from '../endpoints/health-checks.js';
import { standardChecks } from '../endpoints/health-standard-checks.js';
import type { ForwardTls } from '../forwarding/forward-target.js';
import type { AccessMetrics } from '../metrics/access-metrics.js';
import type { RequestMetrics } from '../metrics/request-metrics.js';
import type { NodeMetrics } from '../metrics/node-metrics.js';
import type { WorkQueueMetrics } from '../metrics/work-queue-metrics.js';
import { ResourceRegistry } from '../registry/resource-registry.js';
import { ResourcesOfGroups, type VisibleResources } from '../registry/visible-resources.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { Rng } from '../std/rng.js';
import { TimerWheel } from '../std/timer-wheel.js';
import type { Tracing } from '../tracing/open-tracing.js';
import { MeasuredStore } from '../storage/decorators/measured-store.js';
import { TransformedStore } from '../storage/decorators/transformed-store.js';
import type { KvStore } from '../storage/kv-store.js';
import { partOf, type ServerProcess } from '../workers/server-processes.js';
import { SettlingStore } from '../workers/settled-writes.js';
import type { AuditComponents } from './audit.js';
import { makeAccess, type AccessComponents } from './access.js';
import type { Encryption } from './encryption-file.js';
import type { AuthorizationSource } from './authorization-source.js';
import { makeAuthentication, type AuthenticationComponents, type CredentialSources } from './authentication.js';
import { makeAggregation } from './aggregation.js';
import { makeConversion } from './conversion.js';
import { makeDocuments, type DocumentComponents } from './documents.js';
import { makeFlowControl } from './flow-control.js';
import { makeMeters, metricPages, type Meters, type MetricPages } from './metrics.js';
import { makeRequests, type RequestComponents } from './requests.js';
import type { FaultInjector } from '../faults/fault-injector.js';
import { makeStorage, type StorageComponents } from './storage.js';
import { identifyServer } from './tracing.js';

/** Dependencies that the caller supplies; makeComponents constructs everything else from them. */
interface ServerDependencies extends CredentialSources {
  readonly store: KvStore;
  /** Absent in a server without requests. */
  readonly authorization?: AuthorizationSource | undefined;
  /** Absent if objects are stored unencrypted. */
  readonly encryption?: Encryption | undefined;
  /** Absent without --tracing-config-file. */
  readonly tracing?: Tracing | undefined;
  /** The certificate by which aggregated API servers recognize this one; absent in a server without requests. */
  readonly proxyClient?: Live<KeyPairPem> | undefined;
  /** The CA and client certificate for kubelets; absent in a server without requests. */
  readonly kubeletTls?: (() => ForwardTls) | undefined;
  /** Absent without --allow-faults. */
  readonly faults?: FaultInjector | undefined;
  readonly rng: Rng;
  readonly logger: Logger;
  /** Absent in a server without requests. */
  readonly audit?: AuditComponents | undefined;
  /** Decides about the addresses of nodes, Pods and aggregated servers that requests may be passed on to. */
  readonly permitsForwarding?: ((address: string) => boolean) | undefined;
  /** The API groups that clients see; all by default. */
  readonly servedGroups?: readonly string[] | undefined;
  readonly admissionPlugins?: readonly AdmissionPluginDefinition[] | undefined;
  /** Absent in a server of one process. */
  readonly process?: ServerProcess | undefined;
  /** Encodings of an embedding program. */
  readonly ownEncodings?: readonly Encoding[] | undefined;
}

/** The parts of the server that API group modules of embedding programs can use. */
export interface ModuleContext {
  readonly config: ServerConfig;
  /** Stores of all served resources. */
  readonly registry: ResourceRegistry;
  /** Admission plug-ins, for writes that a handler makes on behalf of a request. */
  readonly admission: AccessComponents['admission'];
  readonly authorizers: AccessComponents['authorizers'];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Components of one server, below the HTTP layer: plain objects, connected through their constructors. */
export interface ServerComponents
  extends
    ServerDependencies,
    ModuleContext,
    StorageComponents,
    AuthenticationComponents,
    AccessComponents,
    DocumentComponents,
    RequestComponents {
  readonly config: ServerConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly admission: AccessComponents['admission'];
  readonly authorizers: AccessComponents['authorizers'];
  readonly metaGroup: string;
  readonly kubeletTls: () => ForwardTls;
  /** Undefined if nothing is recorded. */
  readonly auditor: Auditor | undefined;
  readonly encodings: readonly Encoding[];
  readonly health: HealthChecks;
  readonly version: VersionDocument;
  readonly requestMetrics: RequestMetrics;
  readonly accessMetrics: AccessMetrics;
  readonly workQueueMetrics: WorkQueueMetrics;
  readonly nodeMetrics: NodeMetrics;
  readonly metrics: MetricPages;
  readonly wheel: TimerWheel;
  readonly phase: Phase;
  readonly conversion: ConverterDependencies;
  readonly aggregation: Aggregation;
  readonly visible: VisibleResources;
}

/** Progress of start and shutdown. server.ts sets it; health checks and hooks read it. */
interface Phase {
  isBootstrapped: boolean;
  /** Names of the running reconcilers that need no leader election (every server runs them). */
  readonly reconcilers: Set<string>;
  isStopping: boolean;
  /** True after --shutdown-delay-duration if --shutdown-send-retry-after is set: requests get 429 with Retry-After. */
  isRefusing: boolean;
  /** `10.0.0.1:6443`; empty until the server listens. */
  address: string;
}

export function makeComponents(dependencies: ServerDependencies): ServerComponents {
  const { config, clock, rng, logger, authorization } = dependencies;
  const registry = new ResourceRegistry();
  const root = `${config.storage.etcd.prefix}/`;
  const meters = makeMeters({ registry, root, clock, naming: config.naming, authorization: authorization?.meters });
  const { encryption, faults } = dependencies;
  const injectCall = faults?.injectCall;
  const store = makeStore(dependencies, meters, root);
  const wheel = new TimerWheel(clock);
  const phase = initialPhase();
  const storage = makeStorage({
    config,
    registry,
    store,
    transforms: encryption?.transforms,
    root,
    clock,
    rng,
    logger,
    process: dependencies.process ?? { index: 0, count: 1 },
  });
  const { catalog, feed, declaredValidation } = storage;
  const authentication = makeAuthentication(dependencies, {
    registry,
    tokenCacheObserver: meters.tokenCache,
    webhookObserver: meters.webhooks,
    injectCall,
    rng,
    logger,
  });
  const { admissionPlugins = [] } = dependencies;
  const access = makeAccess({
    ...{ config, registry, authorization, clock, rng, logger, meters, admissionPlugins, injectCall },
  });
  const ofProcess = partOfFlow(config, dependencies.process);
  const flowControl = makeFlowControl({ config: ofProcess, registry, clock, wheel });
  const encodings = makeEncodings(
    {
      protobufMediaType: config.naming.protobufMediaType,
      hasCbor: config.featureGates['CBORServingAndStorage'] === true,
      types: () => catalog,
    },
    dependencies.ownEncodings,
  );
  const health = new HealthChecks({ clock, logger, livezGracePeriodMs: config.livezGracePeriodMs });
  health.add(
    ...standardChecks({
      clock,
      store: async (signal) => {
        await store.revision({ signal });
        // After an outage the feed would notice only at its next heartbeat that it has caught up.
        if (!feed.synced) void feed.consistentRevision({ timeoutMs: 1_000 }).catch(() => undefined);
      },
      storeTimeoutMs: config.storage.etcd.healthcheckTimeoutMs,
      storeReadyTimeoutMs: config.storage.etcd.readycheckTimeoutMs,
      cacheSynced: () => feed.synced,
      cacheLoading: () => feed.loading,
      bootstrapDone: () => phase.isBootstrapped,
      shuttingDown: () => phase.isStopping,
    }),
  );
  health.add(...(encryption?.healthChecks ?? []));
  const version = versionDocument();
  const { accountTokens, tokenUses } = authentication;
  const address = () => phase.address;
  const { tracing } = dependencies;
  const { servedGroups, proxyClient, permitsForwarding } = dependencies;
  const aggregation = makeAggregation({ config, registry, proxyClient, permitsForwarding, clock, rng });
  const visible = servedGroups ? new ResourcesOfGroups(registry, servedGroups) : registry;
  const forwarded = new ForwardedRequests({
    aggregation,
    requestsMax: config.limits.aggregatedRequestsMax,
    rejectsRedirects: config.aggregation.rejectsRedirects,
    clock,
    rng,
  });
  if (tracing) identifyServer(tracing, address);
  return {
    ...dependencies,
    kubeletTls: dependencies.kubeletTls ?? (() => ({})),
    visible,
    metaGroup: config.naming.group('meta'),
    auditor: dependencies.audit?.auditor,
    ...{ registry, store, wheel, phase, health, version, encodings },
    conversion: makeConversion({ config, registry, meters, clock, rng, injectCall }),
    aggregation,
    ...storage,
    ...authentication,
    ...access,
    ...makeDocuments({
      ...{ config, visible, catalog, encodings, health, version, accountTokens, clock, address },
      ...{ aggregation, forwarded },
    }),
    ...makeRequests({
      ...access,
      config: ofProcess,
      visible,
      catalog,
      encodings,
      meters,
      wheel,
      flowControl,
      forwarded,
      permitsForwarding,
      clock,
      rng,
    }),
    flowControl,
    requestMetrics: meters.requests,
    accessMetrics: meters.access,
    workQueueMetrics: meters.workQueues,
    nodeMetrics: meters.nodes,
    metrics: metricPages(meters, {
      ...{ clock, config, registry, version, declaredValidation, health, address, tokenUses, flowControl },
      jwt: dependencies.jwtMetrics,
      authorizationReloads: authorization?.meters.reloads,
      encryption,
      signerMetrics: dependencies.signerMetrics,
      audit: dependencies.audit?.auditMetrics,
      spans: tracing?.exporter.counts,
      unavailableVersions: aggregation.unavailable,
    }),
  };
}

/** Returns the store as all components use it. In a worker, the process with the store measures and converts. */
function makeStore({ store, encryption, clock, process }: ServerDependencies, meters: Meters, root: string): KvStore {
  if (process?.worker) return store;
  const measured = new MeasuredStore(store, meters.storage.observe, clock);
  const converted = encryption ? new TransformedStore(measured, encryption.transforms, clock) : measured;
  return process?.workers ? new SettlingStore(converted, root, process.workers.settled) : converted;
}

/** Divides the limits on requests in flight among the processes. */
function partOfFlow(config: ServerConfig, process: ServerProcess | undefined): ServerConfig {
  if (!process) return config;
  const { flow } = config;
  const requestsInFlightMax = partOf(flow.requestsInFlightMax, process);
  const mutatingRequestsInFlightMax = partOf(flow.mutatingRequestsInFlightMax, process);
  return { ...config, flow: { ...flow, requestsInFlightMax, mutatingRequestsInFlightMax } };
}

function initialPhase(): Phase {
  return { isBootstrapped: false, reconcilers: new Set(), isStopping: false, isRefusing: false, address: '' };
}
