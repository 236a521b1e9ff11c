import { Renderings } from '../answers/rendering.js';
import type { Catalog } from '../catalog/catalog.js';
import type { Encoding } from '../codec/encoding.js';
import { OutputNegotiator } from '../codec/negotiate.js';
import type { ServerConfig } from '../config/server-config.js';
import { UpgradeRoutes } from '../connections/upgrades.js';
import type { ForwardedRequests } from '../endpoints/forwarded-requests.js';
import { ConnectionRequests } from '../endpoints/connection-requests.js';
import { isGlobalUnicast } from '../forwarding/allowed-addresses.js';
import { Upstreams } from '../forwarding/upstreams.js';
import { ResourceRequests } from '../endpoints/resource-requests.js';
import { WatchStreams } from '../endpoints/watch-stream.js';
import type { ResourceNegotiators } from '../interceptors/content-negotiation.js';
import type { FlowControl } from '../flow/flow-control.js';
import { InflightLimiter } from '../flow/inflight-limiter.js';
import type { ResourceDefinition } from '../registry/definition/resource-definition.js';
import type { VisibleResources } from '../registry/visible-resources.js';
import type { Clock } from '../std/clock.js';
import type { Rng } from '../std/rng.js';
import type { TimerWheel } from '../std/timer-wheel.js';
import type { AccessComponents } from './access.js';
import type { Meters } from './metrics.js';

interface Dependencies extends Pick<AccessComponents, 'admission' | 'refusalOf'> {
  readonly config: ServerConfig;
  readonly visible: VisibleResources;
  readonly catalog: Catalog;
  readonly encodings: readonly Encoding[];
  readonly meters: Meters;
  readonly wheel: TimerWheel;
  readonly flowControl: FlowControl | undefined;
  readonly forwarded: ForwardedRequests;
  /** Absent: all addresses of nodes, and those of Pods and Services that are not of this machine. */
  readonly permitsForwarding: ((address: string) => boolean) | undefined;
  readonly clock: Clock;
  readonly rng: Rng;
}

/** Connections to other servers. */
interface UpstreamComponents {
  readonly proxied: Upstreams;
  readonly kubelets: Upstreams;
}

/** Requests for resources, from the bound on requests in flight to the answer. */
export interface RequestComponents {
  readonly limiter: InflightLimiter;
  /** Undefined with --enable-priority-and-fairness=false. */
  readonly flowControl: FlowControl | undefined;
  readonly negotiators: ResourceNegotiators;
  readonly watches: WatchStreams;
  readonly requests: ResourceRequests;
  readonly upstreams: UpstreamComponents;
  /** The requests that may leave HTTP. */
  readonly upgrades: UpgradeRoutes;
}

export function makeRequests(dependencies: Dependencies): RequestComponents {
  const { config, encodings, wheel, flowControl, permitsForwarding } = dependencies;
  const { limits, flow } = config;
  const watches = new WatchStreams({
    wheel,
    clock: dependencies.clock,
    writeStallTimeoutMs: limits.watchWriteStallTimeoutMs,
    bookmarkIntervalMs: limits.bookmarkIntervalMs,
  });
  const limiter = new InflightLimiter({
    readsMax: flow.requestsInFlightMax,
    writesMax: flow.mutatingRequestsInFlightMax,
    longRunningMax: limits.watchesMax,
    longRunningPerUserMax: limits.watchesPerUserMax,
  });
  const upstreams = {
    proxied: new Upstreams({ clock: dependencies.clock, permitsAddress: permitsForwarding ?? isGlobalUnicast }),
    kubelets: new Upstreams({ clock: dependencies.clock, permitsAddress: permitsForwarding }),
  };
  return {
    limiter,
    flowControl,
    negotiators: negotiatorsOf(config, encodings),
    watches,
    upgrades: upgradeRoutes(dependencies.forwarded),
    upstreams,
    requests: requestsOf(dependencies, watches, connectionsOf(dependencies, upstreams)),
  };
}

/** Connections to Pods and nodes, and all requests for aggregated groups. */
function upgradeRoutes(forwarded: ForwardedRequests): UpgradeRoutes {
  const routes = new UpgradeRoutes();
  routes.add(({ isResourceRequest, group, version }) => isResourceRequest && !!forwarded.find(group, version));
  return routes;
}

function negotiatorsOf({ naming }: ServerConfig, encodings: readonly Encoding[]): ResourceNegotiators {
  const offer = { metaGroup: naming.group('meta'), allowsTransforms: true, canWatch: true, encodings };
  return { builtIn: new OutputNegotiator(offer), custom: new OutputNegotiator({ ...offer, isCustom: true }) };
}

function connectionsOf({ config, clock }: Dependencies, upstreams: UpstreamComponents): ConnectionRequests {
  const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes } = config.authentication.requestHeader;
  const names = new Set(
    ['authorization', 'x-remote-user', 'x-remote-uid', 'x-remote-group']
      .concat(usernameHeaders, uidHeaders, groupHeaders)
      .map((name) => name.toLowerCase()),
  );
  const prefixes = ['impersonate-', 'x-remote-extra-', ...extraHeaderPrefixes].map((prefix) => prefix.toLowerCase());
  const isCredential = (name: string) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
  const { streamIdleTimeoutMs } = config.limits;
  return new ConnectionRequests({ ...upstreams, clock, streamIdleTimeoutMs, isCredential });
}

function requestsOf(
  dependencies: Dependencies,
  watches: WatchStreams,
  connections: ConnectionRequests,
): ResourceRequests {
  const { config, visible: registry, catalog, encodings, meters, admission, refusalOf, clock, rng } = dependencies;
  const { limits, featureGates } = config;
  return new ResourceRequests({
    registry,
    types: catalog,
    renderings: renderingsByDefinition(config, clock),
    admission,
    watches,
    watchMetrics: meters.watches,
    deprecations: meters.deprecations,
    forwarded: dependencies.forwarded,
    encodings,
    metaGroup: config.naming.group('meta'),
    limits,
    rng,
    minWatchTimeoutMs: config.minRequestTimeoutSeconds * 1000,
    watchListEnabled: featureGates['WatchList'] === true,
    streamsRequireCreate: featureGates['AuthorizePodWebsocketUpgradeCreatePermission'] === true,
    connections,
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
