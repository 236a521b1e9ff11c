import { AdmissionChain } from './admission/admission-chain.js';
import { readAdmissionConfiguration } from './admission/configuration/admission-configuration.js';
import { builtInPlugins, choosePlugins } from './admission/plugins.js';
import type { WantedRight } from './admission/plugin-parts.js';
import { roleEscalation } from './admission/plugins/role-escalation.plugin.js';
import { RegistryLedger } from './admission/quota/registry-ledger.js';
import { RegistryReader } from './admission/registry-reader.js';
import type { Authenticator } from './auth/authenticator.js';
import { anonymousAuthenticator } from './auth/authenticators/anonymous.authenticator.js';
import { bootstrapTokenAuthenticator } from './auth/authenticators/bootstrap-token.authenticator.js';
import { certificateAuthenticator } from './auth/authenticators/certificate.authenticator.js';
import { requestHeaderAuthenticator } from './auth/authenticators/request-header.authenticator.js';
import { secretTokenAuthenticator } from './auth/authenticators/secret-token.authenticator.js';
import { serviceAccountTokenAuthenticator } from './auth/authenticators/service-account-token.authenticator.js';
import { tokenFileAuthenticator } from './auth/authenticators/token-file.authenticator.js';
import type { TokenObjects } from './auth/authenticators/token-objects.js';
import { authorize, type Authorizer } from './auth/authorizer.js';
import { authorizersFor } from './auth/authorizers.list.js';
import { RbacAuthorizer } from './auth/authorizers/rbac.authorizer.js';
import {
  RequestAuthenticator,
  type CertificateIdentities,
  type ProxyIdentities,
} from './auth/request-authenticator.js';
import { HeldRules } from './auth/rbac/held-rules.js';
import { RoleBook } from './auth/rbac/role-book.js';
import { SecretTokens } from './auth/secret-tokens.js';
import { ServiceAccountTokens } from './auth/service-account-tokens.js';
import type { TokenKeys } from './auth/token-keys.js';
import { defaultCacheLimits } from './cache/cache-limits.js';
import { Feed } from './cache/feed.js';
import { Catalog } from './catalog/catalog.js';
import { cborEncoding } from './codec/cbor.js';
import { standardEncodings, type Encoding } from './codec/encodings.js';
import { OutputNegotiator } from './codec/negotiate.js';
import { protobufEncoding } from './codec/protobuf.js';
import { isGateOn } from './config/feature-gates.js';
import { flagSettings } from './config/flag-settings.js';
import type { ServerConfig } from './config/server-config.js';
import { DeprecatedRequests } from './endpoints/deprecated-requests.js';
import { DiscoveryRequests } from './endpoints/discovery-requests.js';
import { HealthChecks } from './endpoints/health-checks.js';
import { standardChecks } from './endpoints/health-standard-checks.js';
import { ServerMetrics } from './endpoints/metrics.js';
import { AccessMetrics } from './endpoints/metrics-access.js';
import { AdmissionMetrics } from './endpoints/metrics-admission.js';
import { featureFamilies } from './endpoints/metrics-features.js';
import { RequestMetrics } from './endpoints/metrics-requests.js';
import {
  buildFamilies,
  cacheFamilies,
  declaredValidationFamilies,
  healthFamilies,
} from './endpoints/metrics-server.js';
import { StorageMetrics, type StoredKind } from './endpoints/metrics-storage.js';
import { WatchMetrics } from './endpoints/metrics-watches.js';
import { WorkQueueMetrics } from './endpoints/metrics-work-queues.js';
import { OpenApiRequests } from './endpoints/openapi-requests.js';
import { configurationPath, keysPath, OpenIdRequests } from './endpoints/openid-requests.js';
import { ResourceRequests } from './endpoints/resource-requests.js';
import { ServerPageRequests } from './endpoints/server-page-requests.js';
import { flagsPage, statusPage } from './endpoints/server-pages.js';
import { versionDocument, type VersionDocument } from './endpoints/version-document.js';
import { WatchStreams } from './endpoints/watch-stream.js';
import { InflightLimiter } from './flow/inflight-limiter.js';
import { ApiError } from './machinery/api-error.js';
import { ServiceAllocation } from './modules/core/allocation/service-allocation.js';
import { DeclaredValidation } from './registry/declared-validation.js';
import { Renderings } from './registry/rendering.js';
import type { ResourceDefinition } from './registry/resource-definition.js';
import { ResourceRegistry } from './registry/resource-registry.js';
import type { StoreParts } from './registry/resource-store.js';
import { GatedFields } from './schema/gated-fields.js';
import type { Clock } from './std/clock.js';
import type { Logger } from './std/logger.js';
import type { Rng } from './std/rng.js';
import { TimerWheel } from './std/timer-wheel.js';
import { MeasuredStore } from './storage/decorators/measured-store.js';
import type { KvStore } from './storage/kv-store.js';

/** What comes from outside: everything else of the server is made from it. */
export interface Given {
  readonly config: ServerConfig;
  readonly store: KvStore;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  readonly certificates: CertificateIdentities | undefined;
  /** Who may say in headers whom a request is from. */
  readonly proxies?: ProxyIdentities | undefined;
  /** The text of --token-auth-file. */
  readonly tokens: string | undefined;
  /** Keys of service account tokens; the first token may have to wait until one is made. None: no such tokens. */
  readonly tokenKeys?: (() => Promise<TokenKeys>) | undefined;
}

/** The parts of one server, below the HTTP shell: plain objects that know each other by their constructors. */
export interface AppParts extends Given {
  readonly feed: Feed;
  readonly storeParts: StoreParts;
  readonly registry: ResourceRegistry;
  readonly catalog: Catalog;
  readonly authenticator: RequestAuthenticator;
  readonly accountTokens: ServiceAccountTokens;
  readonly serviceAllocation: ServiceAllocation;
  readonly secretTokens: SecretTokens;
  readonly authorizers: readonly Authorizer[];
  readonly admission: AdmissionChain;
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
  readonly metrics: { readonly all: ServerMetrics; readonly indicators: ServerMetrics };
  readonly serverPages: ServerPageRequests;
  readonly wheel: TimerWheel;
  readonly phase: Phase;
}

/** How far the server is. The composition root moves it on, health tells of it. */
export interface Phase {
  isBootstrapped: boolean;
  isStopping: boolean;
  /** `10.0.0.1:6443`, from the moment that the port is known. */
  address: string;
}

export function makeParts(given: Given): AppParts {
  const { config, clock, rng, logger } = given;
  const { naming, limits } = config;
  const registry = new ResourceRegistry();
  const root = `${config.storage.etcd.prefix}/`;
  const storageMetrics = new StorageMetrics({ root, kinds: () => storedKinds(registry) });
  const store = new MeasuredStore(given.store, storageMetrics.observe, clock);
  const wheel = new TimerWheel(clock);
  const phase: Phase = { isBootstrapped: false, isStopping: false, address: '' };
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
  const storeParts: StoreParts = {
    types: catalog,
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
      freshnessTimeoutMs: limits.freshnessWaitMsMax,
      generateNameRetriesMax: 8,
      jsonPatchOperationsMax: limits.jsonPatchOperationsMax,
      historyPageItems: limits.storePageItems,
    },
  };
  const serviceAllocation = new ServiceAllocation({
    registry,
    storeParts,
    naming,
    addressRanges: config.network.serviceClusterIpRanges,
    nodePorts: config.network.serviceNodePorts,
  });
  const tokenKeys = given.tokenKeys ?? noTokenKeys;
  const accountTokens = new ServiceAccountTokens({
    issuers: config.authentication.serviceAccount.issuers,
    privateClaim: naming.labelDomain,
    keys: tokenKeys,
  });
  const secretTokens = new SecretTokens({
    issuer: `${naming.serviceName}/serviceaccount`,
    labelDomain: naming.labelDomain,
    keys: tokenKeys,
  });
  const objects = new RegistryReader(registry);
  const accessMetrics = new AccessMetrics(clock);
  const rbacGroup = naming.group('rbac.authorization');
  const heldRules = new HeldRules(new RoleBook(registry, rbacGroup), rbacGroup);
  const authorizers = authorizersFor(config.authorization.modes, new RbacAuthorizer(heldRules)).map((one) =>
    accessMetrics.counted(one),
  );
  const mayDo = async ({ namespace = '', ...right }: WantedRight) => {
    const asked = { ...right, namespace, isResourceRequest: true, version: '*', subresource: '', path: '' };
    return (await authorize(authorizers, asked)).decision === 'allow';
  };
  const { chosen, missing } = choosePlugins(
    builtInPlugins({
      objects,
      ledger: new RegistryLedger(registry, objects),
      naming,
      clock,
      rng,
      mayDo,
      allowPrivileged: config.admission.allowPrivileged,
      notReadyTolerationSeconds: config.admission.notReadyTolerationSeconds,
      unreachableTolerationSeconds: config.admission.unreachableTolerationSeconds,
      configuration: readAdmissionConfiguration(config.admission.controlConfigFile, naming),
    }),
    config.admission,
  );
  if (missing.length > 0) logger.warn('admission plugins that this version does not have', { plugins: missing });
  const admissionMetrics = new AdmissionMetrics(clock);
  const escalation = roleEscalation({ group: rbacGroup, held: heldRules, may: mayDo });
  const admission = new AdmissionChain([...chosen, escalation], admissionMetrics);
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
    tokens: accountTokens,
    keysUri: config.authentication.serviceAccount.keysUri,
    address: () => phase.address,
  });
  const version = versionDocument();
  const requestMetrics = new RequestMetrics(registry);
  const watchMetrics = new WatchMetrics();
  const workQueueMetrics = new WorkQueueMetrics();
  const deprecations = new DeprecatedRequests(naming);
  const showsHidden = config.showHiddenMetricsForVersion !== undefined;
  const all = new ServerMetrics({ withProcess: true, showsHidden });
  const indicators = new ServerMetrics({ withProcess: false });
  all.add(
    ...requestMetrics.families(),
    ...accessMetrics.families(),
    ...admissionMetrics.families(),
    ...storageMetrics.families(),
    ...cacheFamilies(registry),
    ...watchMetrics.families(),
    ...workQueueMetrics.families(),
    ...buildFamilies(version),
    ...featureFamilies(config.featureGates),
    ...declaredValidationFamilies(declaredValidation),
    ...deprecations.families(),
    ...healthFamilies(health),
  );
  indicators.add(...healthFamilies(health));
  return {
    ...given,
    store,
    wheel,
    phase,
    health,
    version,
    requestMetrics,
    accessMetrics,
    workQueueMetrics,
    metrics: { all, indicators },
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
    storeParts,
    registry,
    catalog,
    metaGroup,
    admission,
    accountTokens,
    serviceAllocation,
    secretTokens,
    authenticator: new RequestAuthenticator({
      authenticators: authenticatorsFor(given, { accountTokens, secretTokens }, registry),
      audiences: config.authentication.apiAudiences,
      certificates: given.certificates,
      proxies: given.proxies,
      clock,
    }),
    authorizers,
    limiter: new InflightLimiter({
      readsMax: config.flow.requestsInFlightMax,
      writesMax: config.flow.mutatingRequestsInFlightMax,
    }),
    encodings,
    negotiator: new OutputNegotiator({ ...offer, encodings }),
    watches,
    requests: new ResourceRequests({
      registry,
      types: catalog,
      renderings: renderingsOf,
      admission,
      watches,
      watchMetrics,
      deprecations,
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
      mayAlso: async ({ user, info }, verb) =>
        (await authorize(authorizers, { ...info, user, verb })).decision === 'allow',
      clock,
    }),
  };
}

/** The union, in order: a proxy's word, a certificate, a token, nobody. */
function authenticatorsFor(
  { config, tokens, proxies, clock }: Given,
  { accountTokens, secretTokens }: Pick<AppParts, 'accountTokens' | 'secretTokens'>,
  registry: ResourceRegistry,
): Authenticator[] {
  const { authentication, naming } = config;
  const objects = tokenObjects(registry);
  const { apiAudiences: audiences } = authentication;
  const { looksUp } = authentication.serviceAccount;
  const tokenParts = { objects, audiences, labelDomain: naming.labelDomain, clock, looksUp };
  return [
    ...(proxies ? [requestHeaderAuthenticator(authentication.requestHeader)] : []),
    certificateAuthenticator,
    ...(tokens === undefined ? [] : [tokenFileAuthenticator(tokens, authentication.tokenAuthFile ?? 'the token file')]),
    serviceAccountTokenAuthenticator({ ...tokenParts, tokens: accountTokens }),
    secretTokenAuthenticator({ ...tokenParts, tokens: secretTokens }),
    ...(authentication.bootstrapTokens ? [bootstrapTokenAuthenticator({ objects, naming, clock })] : []),
    ...(authentication.anonymous ? [anonymousAuthenticator] : []),
  ];
}

const noTokenKeys = () => Promise.reject(new Error('this server has no key for service account tokens'));

/** What tokens are bound to, as the stores of the core group have it. */
function tokenObjects(registry: ResourceRegistry): TokenObjects {
  const storeOf = (resource: string) => registry.require('', 'v1', resource).store;
  return {
    cached(resource, namespace, name) {
      const store = storeOf(resource);
      return store.cache.get(store.keyOf(namespace, name))?.parse();
    },
    async live(resource, namespace, name) {
      try {
        return (await storeOf(resource).get(namespace, name, {})).parse();
      } catch (error) {
        if (error instanceof ApiError && error.reason === 'NotFound') return undefined;
        throw error;
      }
    },
  };
}

function* storedKinds(registry: ResourceRegistry): Generator<[prefix: string, kind: StoredKind]> {
  for (const { definition, store } of registry.storedResources()) {
    yield [definition.storagePrefix, store.groupResource];
  }
}

function cacheLimitsOf({ limits }: ServerConfig) {
  return {
    ...defaultCacheLimits,
    loadPageItems: limits.storePageItems,
    historyEventsMax: limits.historyEventsPerResourceMax,
    snapshotRetentionMs: limits.snapshotRetentionMs,
  };
}
