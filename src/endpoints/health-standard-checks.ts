import type { LoadProgress } from '../cache/feed.js';
import type { Clock } from '../std/clock.js';
import { healthEndpoints, type HealthCheck } from './health-checks.js';
import { StorePulse } from './store-pulse.js';

interface StandardCheckDependencies {
  readonly clock: Clock;
  /** Sends a request to the backing store, which fails if the store does. */
  readonly store: (signal: AbortSignal) => Promise<unknown>;
  readonly storeTimeoutMs: number;
  /** Timeout of the check etcd-readiness. */
  readonly storeReadyTimeoutMs: number;
  /** True if the cache has caught up with the store. */
  readonly cacheSynced: () => boolean;
  /** The progress of a load of the cache that is under way. */
  readonly cacheLoading: () => LoadProgress | undefined;
  /** True once the objects that every cluster starts with exist. */
  readonly bootstrapDone: () => boolean;
  readonly shuttingDown: () => boolean;
}

/** Steps that are done once the cache is filled. It contains the CRDs too. */
const loadedSteps = [
  'generic-apiserver-start-informers',
  'watch-cache-initialization',
  'start-apiextensions-informers',
  'crd-informer-synced',
  // Caches of APIServices and of their Services.
  'start-kube-aggregator-informers',
  // Caches that admission plug-ins read.
  'start-apiserver-admission-initializer',
  'storage-readiness',
];
/** Steps that are done once the initial objects exist. */
const objectSteps = [
  'rbac/bootstrap-roles',
  'scheduling/bootstrap-system-priority-classes',
  'bootstrap-controller',
  // The system namespaces, and the ServiceCIDR kubernetes.
  'start-system-namespaces-controller',
  'start-kubernetes-service-cidr-controller',
  'apiservice-registration-controller',
  'kube-apiserver-autoregistration',
  // APIServices of groups that this server serves are created with the condition Available.
  'apiservice-status-local-available-controller',
  // /openapi/v2 and /openapi/v3 contain every group that has an APIService.
  'apiservice-openapi-controller',
  'apiservice-openapiv3-controller',
];
/** Steps that are done while their reconcilers run. */
const reconcilerSteps: readonly (readonly [step: string, ...reconcilers: readonly string[]])[] = [
  ['start-apiextensions-controllers', 'crd-condition-controller', 'crd-finalizer'],
  ['start-cluster-authentication-info-controller', 'cluster-authentication-trust-controller'],
  ['start-kube-apiserver-identity-lease-controller', 'server-identity'],
  ['start-legacy-token-tracking-controller', 'legacy-service-account-token-tracking'],
  ['start-service-ip-repair-controllers', 'service-allocation'],
  ['apiservice-status-remote-available-controller', 'apiservice-remote-availability'],
  ['priority-and-fairness-config-producer', 'flow-schema-controller', 'flow-control-defaults'],
];
/**
 * The part of its timeout after which /readyz of a silent store fails if it is probed each second: a load balancer knows of
 * an outage within 1.8 s. /livez, after which servers are restarted, takes the whole timeout.
 */
const readySilenceShare = 3 / 4;
const objectsMissing = 'the initial objects have not all been created';

/** Returns the checks of every server, in the order of the report. Checks of reconcilers are appended later. */
export function standardChecks(dependencies: StandardCheckDependencies): HealthCheck[] {
  const { clock, store, storeTimeoutMs, storeReadyTimeoutMs, cacheSynced, bootstrapDone, shuttingDown } = dependencies;
  const everywhere = healthEndpoints;
  const ready = ['readyz'] as const;
  const pulse = new StorePulse({ clock, ask: store });
  const answers = (timeoutMs: number) => () => pulse.probe({ timeoutMs, silenceMs: timeoutMs });
  const answersSoon = (timeoutMs: number) => () => pulse.probe({ timeoutMs, silenceMs: timeoutMs * readySilenceShare });
  const synced = () => {
    if (cacheSynced()) return;
    const loading = dependencies.cacheLoading();
    if (!loading) throw new Error('the cache is behind the store');
    const inAll = loading.keysInAll === undefined ? '' : `of ${loading.keysInAll} `;
    throw new Error(`${loading.keys} ${inAll}keys are loaded`);
  };
  const isLoaded = once(cacheSynced);
  return [
    { name: 'ping', endpoints: everywhere, check: () => undefined },
    // Always passes: log lines are written asynchronously, so that logging cannot block.
    { name: 'log', endpoints: everywhere, check: () => undefined },
    { name: 'etcd', endpoints: ['healthz', 'livez'], check: answers(storeTimeoutMs) },
    { name: 'etcd', endpoints: ready, check: answersSoon(storeTimeoutMs) },
    { name: 'etcd-readiness', endpoints: ready, check: answersSoon(storeReadyTimeoutMs) },
    { name: 'informer-sync', endpoints: ready, check: synced },
    ...loadedSteps.map((name) => bootStep(name, isLoaded, 'the cache has not been loaded')),
    ...objectSteps.map((name) => bootStep(name, bootstrapDone, objectsMissing)),
    // Done once every served group has an APIService.
    { ...bootStep('', bootstrapDone, objectsMissing), name: 'autoregister-completion' },
    {
      name: 'shutdown',
      endpoints: ready,
      check: requireThat(() => !shuttingDown(), 'the server is shutting down'),
    },
  ];
}

/** Returns the checks of a server that runs reconcilers. */
export function reconcilerChecks(isRunning: (reconciler: string) => boolean): HealthCheck[] {
  return reconcilerSteps.map(([step, ...names]) =>
    bootStep(step, () => names.every(isRunning), `reconciler ${names.join(' or ')} is not running`),
  );
}

/** Returns the check of a step of the start, which all three endpoints report. */
export function bootStep(name: string, done: () => boolean, missing: string): HealthCheck {
  return {
    name: `poststarthook/${name}`,
    endpoints: healthEndpoints,
    check: requireThat(done, missing),
    isBootStep: true,
  };
}

function requireThat(holds: () => boolean, otherwise: string): () => void {
  return () => {
    if (!holds()) throw new Error(otherwise);
  };
}

/** Returns a predicate that stays true once it was: a cache that falls behind later still has been filled. */
function once(holds: () => boolean): () => boolean {
  let held = false;
  return () => (held ||= holds());
}
