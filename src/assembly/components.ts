import { makeAccess, type AccessParts } from './access.js';
import { makeAuthentication, type AuthenticationParts, type CredentialSources } from './authentication.js';
import { defaultCacheLimits } from '../cache/cache-limits.js';
import { Feed } from '../cache/feed.js';
import { Catalog } from '../catalog/catalog.js';
import { cborEncoding } from '../codec/cbor.js';
import { standardEncodings, type Encoding } from '../codec/encodings.js';
import { OutputNegotiator } from '../codec/negotiate.js';
import { protobufEncoding, StoredProtobuf } from '../codec/protobuf.js';
import { isGateOn } from '../config/feature-gates.js';
import { flagSettings } from '../config/flag-settings.js';
import type { ServerConfig } from '../config/server-config.js';
import { DiscoveryRequests } from '../endpoints/discovery-requests.js';
import { HealthChecks } from '../endpoints/health-checks.js';
import { standardChecks } from '../endpoints/health-standard-checks.js';
import type { AccessMetrics } from '../metrics/access-metrics.js';
import type { RequestMetrics } from '../metrics/request-metrics.js';
import type { WorkQueueMetrics } from '../metrics/work-queue-metrics.js';
import { OpenApiRequests } from '../endpoints/openapi-requests.js';
import { configurationPath, keysPath, OpenIdRequests } from '../endpoints/openid-requests.js';
import { ResourceRequests } from '../endpoints/resource-requests.js';
import { ServerPageRequests } from '../endpoints/server-page-requests.js';
import { flagsPage, statusPage } from '../endpoints/server-pages.js';
import { versionDocument, type VersionDocument } from '../config/version-document.js';
import { WatchStreams } from '../endpoints/watch-stream.js';
import { InflightLimiter } from '../flow/inflight-limiter.js';
import { makeMeters, metricPages, type MetricPages } from './metrics.js';
import { ServiceAllocation } from '../service-allocation/service-allocation.js';
import { DeclaredValidation } from '../registry/write/declared-validation.js';
import { Renderings } from '../answers/rendering.js';
import type { ResourceDefinition } from '../registry/definition/resource-definition.js';
import { ResourceRegistry } from '../registry/resource-registry.js';
import type { StoreDependencies } from '../registry/resource-store.js';
import { GatedFields } from '../typed/gated-fields.js';
import type { Logger } from '../std/logger.js';
import type { Rng } from '../std/rng.js';
import { TimerWheel } from '../std/timer-wheel.js';
import { MeasuredStore } from '../storage/decorators/measured-store.js';
import type { KvStore } from '../storage/kv-store.js';

/** Dependencies that the caller supplies; makeParts constructs everything else from them. */
export interface ServerDependencies extends CredentialSources {
  readonly store: KvStore;
  readonly rng: Rng;
  readonly logger: Logger;
}

/** Components of one server, below the HTTP layer: plain objects, connected through their constructors. */
export interface AppParts extends ServerDependencies, AuthenticationParts, AccessParts {
  readonly feed: Feed;
  readonly storeDependencies: StoreDependencies;
  readonly registry: ResourceRegistry;
  readonly catalog: Catalog;
  readonly serviceAllocation: ServiceAllocation;
  readonly limiter: InflightLimiter;
  readonly encodings: readonly Encoding[];
  readonly negotiator: OutputNegotiator;
  readonly watches: WatchStreams;
  readonly requests: ResourceRequests;
  readonly metaGroup: string;
  readonly health: HealthChecks;
  readonly version: VersionDocument;
  readonly discovery: DiscoveryRequests;
  readonly openApi: OpenApiRequests;
  readonly openId: OpenIdRequests;
  readonly requestMetrics: RequestMetrics;
  readonly accessMetrics: AccessMetrics;
  readonly workQueueMetrics: WorkQueueMetrics;
  readonly metrics: MetricPages;
  readonly serverPages: ServerPageRequests;
  readonly wheel: TimerWheel;
  readonly phase: Phase;
}

/** Progress of start and shutdown. server.ts sets it; health checks and hooks read it. */
export interface Phase {
  isBootstrapped: boolean;
  /** Names of the running reconcilers that need no leader election (every server runs them). */
  readonly reconcilers: Set<string>;
  isStopping: boolean;
  /** True after --shutdown-delay-duration if --shutdown-send-retry-after is set: requests get 429 with Retry-After. */
  isRefusing: boolean;
  /** `10.0.0.1:6443`; empty until the server listens. */
  address: string;
}

export function makeParts(dependencies: ServerDependencies): AppParts {
  const { config, clock, rng, logger } = dependencies;
  const { naming, limits } = config;
  const registry = new ResourceRegistry();
  const root = `${config.storage.etcd.prefix}/`;
  const meters = makeMeters({ registry, root, clock, naming });
  const store = new MeasuredStore(dependencies.store, meters.storage.observe, clock);
  const wheel = new TimerWheel(clock);
  const phase: Phase = {
    isBootstrapped: false,
    reconcilers: new Set(),
    isStopping: false,
    isRefusing: false,
    address: '',
  };
  const metaGroup = naming.group('meta');

  const feed = new Feed({ store, root, clock, logger, limits: cacheLimitsOf(config) });
  const catalog = new Catalog(naming);
  const isEnabled = (gate: string) => config.featureGates[gate] === true;
  const declaredValidation = new DeclaredValidation({
    isOn: isEnabled('DeclarativeValidation'),
    takesOver: isEnabled('DeclarativeValidationTakeover'),
    isEnabled,
    ownResourcePrefix: naming.label(''),
    logger,
  });
  const storeDependencies: StoreDependencies = {
    types: catalog,
    protobuf: new StoredProtobuf(() => catalog),
    storageMediaType: config.storage.mediaType === naming.protobufMediaType ? 'protobuf' : 'json',
    declaredValidation,
    gatedFields: new GatedFields((gate) => !isGateOn(config.featureGates, gate)),
    naming,
    kv: store,
    feed,
    root,
    clock,
    rng,
    limits: {
      writeConflictRetriesMax: limits.patchAttemptsMax,
      writersWaitingMax: limits.objectWritersWaitingMax,
      writeTurnMsMax: limits.objectWriteTurnMsMax,
      freshnessTimeoutMs: limits.freshnessWaitMsMax,
      generateNameRetriesMax: 8,
      jsonPatchOperationsMax: limits.jsonPatchOperationsMax,
      requestValuesMax: limits.requestValuesMax,
      historyPageItems: limits.storePageItems,
    },
  };
  const serviceAllocation = new ServiceAllocation({
    registry,
    storeDependencies,
    naming,
    addressRanges: config.network.serviceClusterIpRanges,
    nodePorts: config.network.serviceNodePorts,
  });
  const authentication = makeAuthentication(dependencies, registry);
  const access = makeAccess({ config, registry, clock, rng, logger, meters });
  const watches = new WatchStreams({
    wheel,
    writeStallTimeoutMs: limits.watchWriteStallTimeoutMs,
    bookmarkIntervalMs: limits.bookmarkIntervalMs,
  });
  const renderings = new WeakMap<ResourceDefinition, Renderings>();
  const renderingsOf = (definition: ResourceDefinition) => {
    let found = renderings.get(definition);
    if (!found) {
      found = new Renderings(definition, { metaGroup, initialEventsEnd: naming.apiLabel('initial-events-end'), clock });
      renderings.set(definition, found);
    }
    return found;
  };
  const encodings = [
    ...standardEncodings,
    protobufEncoding(naming.protobufMediaType, () => catalog),
    ...(config.featureGates['CBORServingAndStorage'] === true ? [cborEncoding(() => catalog)] : []),
  ];
  const offer = { metaGroup, allowsTransforms: true, canWatch: true };
  const health = new HealthChecks({ clock, logger, livezGracePeriodMs: config.livezGracePeriodMs });
  health.add(
    ...standardChecks({
      clock,
      store: () => store.revision(),
      storeTimeoutMs: config.storage.etcd.healthcheckTimeoutMs,
      storeReadyTimeoutMs: config.storage.etcd.readycheckTimeoutMs,
      cacheSynced: () => feed.synced,
      bootstrapDone: () => phase.isBootstrapped,
      shuttingDown: () => phase.isStopping,
    }),
  );
  const openId = new OpenIdRequests({
    tokens: authentication.accountTokens,
    keysUri: config.authentication.serviceAccount.keysUri,
    address: () => phase.address,
  });
  const version = versionDocument();
  return {
    ...dependencies,
    ...authentication,
    ...access,
    store,
    wheel,
    phase,
    health,
    version,
    requestMetrics: meters.requests,
    accessMetrics: meters.access,
    workQueueMetrics: meters.workQueues,
    metrics: metricPages(meters, { clock, config, registry, version, declaredValidation, health }),
    discovery: new DiscoveryRequests({
      registry,
      encodings,
      discoveryGroup: naming.group('apidiscovery'),
      serverAddress: () => phase.address,
      otherPaths: () => [
        ...health.paths(),
        ...(openId.isServed ? [configurationPath, keysPath] : []),
        ...(isEnabled('ComponentFlagz') ? ['/flagz'] : []),
        ...(isEnabled('ComponentStatusz') ? ['/statusz'] : []),
        ...['/metrics', '/metrics/slis', '/openapi/v2', '/openapi/v3', '/openapi/v3/', '/version'],
      ],
    }),
    serverPages: new ServerPageRequests({
      group: naming.group('config'),
      encodings: standardEncodings,
      pages: {
        statusz: isEnabled('ComponentStatusz')
          ? statusPage({ version, startedAtMs: clock.now(), now: () => clock.now(), paths: () => health.paths() })
          : undefined,
        flagz: isEnabled('ComponentFlagz') ? flagsPage(flagSettings(config)) : undefined,
      },
    }),
    openId,
    openApi: new OpenApiRequests({
      registry,
      encodings,
      catalog,
      apiDomain: naming.apiDomain,
      apiName: naming.serviceName,
      serverPaths: [
        ...(openId.isServed ? (['.well-known/openid-configuration', 'openid/v1/jwks'] as const) : []),
        'version',
      ],
      clock,
    }),
    feed,
    storeDependencies,
    registry,
    catalog,
    metaGroup,
    serviceAllocation,
    limiter: new InflightLimiter({
      readsMax: config.flow.requestsInFlightMax,
      writesMax: config.flow.mutatingRequestsInFlightMax,
      longRunningMax: config.limits.watchesMax,
      longRunningPerUserMax: config.limits.watchesPerUserMax,
    }),
    encodings,
    negotiator: new OutputNegotiator({ ...offer, encodings }),
    watches,
    requests: new ResourceRequests({
      registry,
      types: catalog,
      renderings: renderingsOf,
      admission: access.admission,
      watches,
      watchMetrics: meters.watches,
      deprecations: meters.deprecations,
      encodings,
      openNegotiator: new OutputNegotiator({
        ...offer,
        encodings: encodings.filter(({ takesAnyKind }) => takesAnyKind),
      }),
      metaGroup,
      limits,
      rng,
      minWatchTimeoutMs: config.minRequestTimeoutSeconds * 1000,
      watchListEnabled: config.featureGates['WatchList'] === true,
      shardingEnabled: config.featureGates['ShardedListAndWatch'] === true,
      snapshotsEnabled: config.featureGates['ListFromCacheSnapshot'] === true,
      compressionEnabled: config.featureGates['APIResponseCompression'] === true,
      unsafeDeletionEnabled: config.featureGates['AllowUnsafeMalformedObjectDeletion'] === true,
      refusalOf: ({ user, info }, verb) => access.refusalOf({ ...info, user, verb }),
      clock,
    }),
  };
}

function cacheLimitsOf({ limits }: ServerConfig) {
  return {
    ...defaultCacheLimits,
    loadPageItems: limits.storePageItems,
    historyEventsMax: limits.historyEventsPerResourceMax,
    snapshotRetentionMs: limits.snapshotRetentionMs,
  };
}
