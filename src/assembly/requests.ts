import { Renderings } from '../answers/rendering.js';
import type { Catalog } from '../catalog/catalog.js';
import type { Encoding } from '../codec/encoding.js';
import { OutputNegotiator } from '../codec/negotiate.js';
import type { ServerConfig } from '../config/server-config.js';
import { ResourceRequests } from '../endpoints/resource-requests.js';
import { WatchStreams } from '../endpoints/watch-stream.js';
import type { ResourceNegotiators } from '../interceptors/content-negotiation.interceptor.js';
import type { FlowControl } from '../flow/flow-control.js';
import { InflightLimiter } from '../flow/inflight-limiter.js';
import type { ResourceDefinition } from '../registry/definition/resource-definition.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { Clock } from '../std/clock.js';
import type { Rng } from '../std/rng.js';
import type { TimerWheel } from '../std/timer-wheel.js';
import type { AccessComponents } from './access.js';
import type { Meters } from './metrics.js';

interface Dependencies extends Pick<AccessComponents, 'admission' | 'refusalOf'> {
  readonly config: ServerConfig;
  readonly registry: ResourceRegistry;
  readonly catalog: Catalog;
  readonly encodings: readonly Encoding[];
  readonly meters: Meters;
  readonly wheel: TimerWheel;
  readonly flowControl: FlowControl | undefined;
  readonly clock: Clock;
  readonly rng: Rng;
}

/** Requests for resources, from the bound on requests in flight to the answer. */
export interface RequestComponents {
  readonly limiter: InflightLimiter;
  /** Undefined with --enable-priority-and-fairness=false. */
  readonly flowControl: FlowControl | undefined;
  readonly negotiators: ResourceNegotiators;
  readonly watches: WatchStreams;
  readonly requests: ResourceRequests;
}

export function makeRequests(dependencies: Dependencies): RequestComponents {
  const { config, encodings, wheel, flowControl } = dependencies;
  const { limits, flow } = config;
  const watches = new WatchStreams({
    wheel,
    writeStallTimeoutMs: limits.watchWriteStallTimeoutMs,
    bookmarkIntervalMs: limits.bookmarkIntervalMs,
  });
  const limiter = new InflightLimiter({
    readsMax: flow.requestsInFlightMax,
    writesMax: flow.mutatingRequestsInFlightMax,
    longRunningMax: limits.watchesMax,
    longRunningPerUserMax: limits.watchesPerUserMax,
  });
  return {
    limiter,
    flowControl,
    negotiators: negotiatorsOf(config, encodings),
    watches,
    requests: requestsOf(dependencies, watches),
  };
}

function negotiatorsOf({ naming }: ServerConfig, encodings: readonly Encoding[]): ResourceNegotiators {
  const offer = { metaGroup: naming.group('meta'), allowsTransforms: true, canWatch: true, encodings };
  return { builtIn: new OutputNegotiator(offer), custom: new OutputNegotiator({ ...offer, isCustom: true }) };
}

function requestsOf(dependencies: Dependencies, watches: WatchStreams): ResourceRequests {
  const { config, registry, catalog, encodings, meters, admission, refusalOf, clock, rng } = dependencies;
  const { limits, featureGates } = config;
  return new ResourceRequests({
    registry,
    types: catalog,
    renderings: renderingsByDefinition(config, clock),
    admission,
    watches,
    watchMetrics: meters.watches,
    deprecations: meters.deprecations,
    encodings,
    metaGroup: config.naming.group('meta'),
    limits,
    rng,
    minWatchTimeoutMs: config.minRequestTimeoutSeconds * 1000,
    watchListEnabled: featureGates['WatchList'] === true,
    shardingEnabled: featureGates['ShardedListAndWatch'] === true,
    snapshotsEnabled: featureGates['ListFromCacheSnapshot'] === true,
    compressionEnabled: featureGates['APIResponseCompression'] === true,
    unsafeDeletionEnabled: featureGates['AllowUnsafeMalformedObjectDeletion'] === true,
    refusalOfAttributes: refusalOf,
    refusalOf: ({ user, info }, verb) => refusalOf({ ...info, user, verb }),
    clock,
  });
}

function renderingsByDefinition({ naming }: ServerConfig, clock: Clock) {
  const metaGroup = naming.group('meta');
  const initialEventsEnd = naming.apiLabel('initial-events-end');
  const renderings = new WeakMap<ResourceDefinition, Renderings>();
  return (definition: ResourceDefinition): Renderings => {
    let found = renderings.get(definition);
    if (!found)
      renderings.set(definition, (found = new Renderings(definition, { metaGroup, initialEventsEnd, clock })));
    return found;
  };
}
