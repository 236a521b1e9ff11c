import { AdmissionChain } from './admission/admission-chain.js';
import { builtInPlugins } from './admission/plugins.js';
import type { Authenticator } from './auth/authenticator.js';
import { anonymousAuthenticator } from './auth/authenticators/anonymous.authenticator.js';
import { certificateAuthenticator } from './auth/authenticators/certificate.authenticator.js';
import { tokenFileAuthenticator } from './auth/authenticators/token-file.authenticator.js';
import type { Authorizer } from './auth/authorizer.js';
import { authorizersFor } from './auth/authorizers.list.js';
import { RequestAuthenticator, type CertificateIdentities } from './auth/request-authenticator.js';
import { defaultCacheLimits } from './cache/cache-limits.js';
import { Feed } from './cache/feed.js';
import { standardEncodings } from './codec/encodings.js';
import { OutputNegotiator } from './codec/negotiate.js';
import type { ServerConfig } from './config/server-config.js';
import { ResourceRequests } from './endpoints/resource-requests.js';
import { WatchStreams } from './endpoints/watch-stream.js';
import { InflightLimiter } from './flow/inflight-limiter.js';
import { Renderings } from './registry/rendering.js';
import type { ResourceDefinition } from './registry/resource-definition.js';
import { ResourceRegistry } from './registry/resource-registry.js';
import type { StoreParts } from './registry/resource-store.js';
import type { Clock } from './std/clock.js';
import type { Logger } from './std/logger.js';
import type { Rng } from './std/rng.js';
import { TimerWheel } from './std/timer-wheel.js';
import type { KvStore } from './storage/kv-store.js';

/** What comes from outside: everything else of the server is made from it. */
export interface Given {
  readonly config: ServerConfig;
  readonly store: KvStore;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  readonly certificates: CertificateIdentities | undefined;
  /** The text of --token-auth-file. */
  readonly tokens: string | undefined;
}

/** The parts of one server, below the HTTP shell: plain objects that know each other by their constructors. */
export interface AppParts extends Given {
  readonly feed: Feed;
  readonly storeParts: StoreParts;
  readonly registry: ResourceRegistry;
  readonly authenticator: RequestAuthenticator;
  readonly authorizers: readonly Authorizer[];
  readonly admission: AdmissionChain;
  readonly limiter: InflightLimiter;
  readonly negotiator: OutputNegotiator;
  readonly watches: WatchStreams;
  readonly requests: ResourceRequests;
  readonly metaGroup: string;
}

export function makeParts(given: Given): AppParts {
  const { config, store, clock, rng, logger } = given;
  const { naming, limits } = config;
  const root = `${config.storage.etcd.prefix}/`;
  const metaGroup = naming.group('meta');

  const feed = new Feed({ store, root, clock, logger, limits: cacheLimitsOf(config) });
  const storeParts: StoreParts = {
    kv: store,
    feed,
    root,
    clock,
    rng,
    limits: {
      writeConflictRetriesMax: limits.patchAttemptsMax,
      freshnessTimeoutMs: limits.freshnessWaitMsMax,
      generateNameRetriesMax: 8,
      historyPageItems: limits.storePageItems,
    },
  };
  const registry = new ResourceRegistry();
  const namespaces = () => registry.require('', 'v1', 'namespaces').store;
  const admission = new AdmissionChain(
    builtInPlugins({
      naming,
      namespaces: {
        cached: (name) => namespaces().cache.get(namespaces().keyOf('', name))?.parse(),
        live: async (name, signal) => (await namespaces().get('', name, { signal })).parse(),
      },
    }),
  );
  const watches = new WatchStreams({
    wheel: new TimerWheel(clock),
    writeStallTimeoutMs: limits.watchWriteStallTimeoutMs,
    bookmarkIntervalMs: limits.bookmarkIntervalMs,
  });
  const renderings = new Map<ResourceDefinition, Renderings>();
  const renderingsOf = (definition: ResourceDefinition) => {
    let found = renderings.get(definition);
    if (!found) {
      found = new Renderings(definition, { metaGroup, initialEventsEnd: naming.apiLabel('initial-events-end'), clock });
      renderings.set(definition, found);
    }
    return found;
  };
  return {
    ...given,
    feed,
    storeParts,
    registry,
    metaGroup,
    admission,
    authenticator: new RequestAuthenticator({
      authenticators: authenticatorsFor(given),
      certificates: given.certificates,
      clock,
    }),
    authorizers: authorizersFor(config.authorization.modes),
    limiter: new InflightLimiter({
      readsMax: config.flow.requestsInFlightMax,
      writesMax: config.flow.mutatingRequestsInFlightMax,
    }),
    negotiator: new OutputNegotiator({
      encodings: standardEncodings,
      metaGroup,
      allowsTransforms: true,
      canWatch: true,
    }),
    watches,
    requests: new ResourceRequests({
      registry,
      renderings: renderingsOf,
      admission,
      watches,
      encodings: standardEncodings,
      metaGroup,
      limits,
      rng,
      minWatchTimeoutMs: config.minRequestTimeoutSeconds * 1000,
      watchListEnabled: config.featureGates['WatchList'] === true,
    }),
  };
}

/** The union, in order: a certificate, a token, nobody. */
function authenticatorsFor({ config, tokens }: Given): Authenticator[] {
  const { authentication } = config;
  return [
    certificateAuthenticator,
    ...(tokens === undefined ? [] : [tokenFileAuthenticator(tokens, authentication.tokenAuthFile ?? 'the token file')]),
    ...(authentication.anonymous ? [anonymousAuthenticator] : []),
  ];
}

function cacheLimitsOf({ limits }: ServerConfig) {
  return {
    ...defaultCacheLimits,
    loadPageItems: limits.storePageItems,
    historyEventsMax: limits.historyEventsPerResourceMax,
    snapshotRetentionMs: limits.snapshotRetentionMs,
  };
}
