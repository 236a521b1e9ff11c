import type { Clock } from '../std/clock.js';
import { healthEndpoints, type HealthCheck } from './health-checks.js';

export interface StandardCheckParts {
  readonly clock: Clock;
  /** Asks the backing store for anything that needs it to be alive. */
  readonly store: () => Promise<unknown>;
  readonly storeTimeoutMs: number;
  /** The same for the question that only readiness asks. */
  readonly storeReadyTimeoutMs: number;
  /** Whether the cache holds all that the store had acknowledged a moment ago. */
  readonly cacheSynced: () => boolean;
  /** Whether the objects that every server has are there. */
  readonly bootstrapDone: () => boolean;
  readonly shuttingDown: () => boolean;
}

/** The definitions of custom resources are loaded with everything else. */
const loadedSteps = [
  'generic-apiserver-start-informers',
  'watch-cache-initialization',
  'start-apiextensions-informers',
  'crd-informer-synced',
  // APIServices, and the Services behind them.
  'start-kube-aggregator-informers',
  // Admission plug-ins read from the caches.
  'start-apiserver-admission-initializer',
  'storage-readiness',
];
const objectSteps = [
  'rbac/bootstrap-roles',
  'scheduling/bootstrap-system-priority-classes',
  'bootstrap-controller',
  // The namespaces of the system, and the first range of cluster IPs.
  'start-system-namespaces-controller',
  'start-kubernetes-service-cidr-controller',
  'apiservice-registration-controller',
  'kube-apiserver-autoregistration',
  // The APIServices of what this server itself serves are made as available.
  'apiservice-status-local-available-controller',
  // Every group that has an APIService is in /openapi/v2 and /openapi/v3.
  'apiservice-openapi-controller',
  'apiservice-openapiv3-controller',
];
/** Steps that are done while reconcilers run, by their names. */
const reconcilerSteps: readonly (readonly [step: string, ...reconcilers: readonly string[]])[] = [
  ['start-apiextensions-controllers', 'crd-condition-controller', 'crd-finalizer'],
  ['start-cluster-authentication-info-controller', 'cluster-authentication-trust-controller'],
  ['start-kube-apiserver-identity-lease-controller', 'server-identity'],
  ['start-legacy-token-tracking-controller', 'legacy-service-account-token-tracking'],
  ['start-service-ip-repair-controllers', 'service-allocation'],
  ['apiservice-status-remote-available-controller', 'apiservice-remote-availability'],
  ['priority-and-fairness-config-producer', 'flow-schema-controller'],
];
const objectsMissing = 'the objects of a new server are not all there';

/** What every server checks, in the order of the report. Steps of starting up are added behind these as they come. */
export function standardChecks(parts: StandardCheckParts): HealthCheck[] {
  const { storeTimeoutMs, storeReadyTimeoutMs, cacheSynced, bootstrapDone, shuttingDown } = parts;
  const everywhere = healthEndpoints;
  const answers = storeCheck(parts);
  const synced = requireThat(cacheSynced, 'the cache is behind the store');
  const isLoaded = once(cacheSynced);
  return [
    { name: 'ping', endpoints: everywhere, check: () => undefined },
    // Lines are handed to the operating system one by one: there is no buffer that could hang.
    { name: 'log', endpoints: everywhere, check: () => undefined },
    { name: 'etcd', endpoints: everywhere, check: answers(storeTimeoutMs) },
    { name: 'etcd-readiness', endpoints: ['readyz'], check: answers(storeReadyTimeoutMs) },
    { name: 'informer-sync', endpoints: ['readyz'], check: synced },
    ...loadedSteps.map((name) => bootStep(name, isLoaded, 'the cache has not been loaded')),
    ...objectSteps.map((name) => bootStep(name, bootstrapDone, objectsMissing)),
    // An APIService for every group that is served.
    { ...bootStep('', bootstrapDone, objectsMissing), name: 'autoregister-completion' },
    {
      name: 'shutdown',
      endpoints: ['readyz'],
      check: requireThat(() => !shuttingDown(), 'the server is shutting down'),
    },
  ];
}

/** Checks of a server that runs reconcilers. */
export function reconcilerChecks(isRunning: (reconciler: string) => boolean): HealthCheck[] {
  return reconcilerSteps.map(([step, ...names]) =>
    bootStep(step, () => names.every(isRunning), `${names.join(' or ')} does not run`),
  );
}

/** A step of starting up; it has its place in all three reports. */
export function bootStep(name: string, done: () => boolean, missing: string): HealthCheck {
  return {
    name: `poststarthook/${name}`,
    endpoints: healthEndpoints,
    check: requireThat(done, missing),
    isBootStep: true,
  };
}

/**
 * One question to the store answers all probes that came before its answer. A store that never answers is asked once:
 * later probes wait for the same question, each no longer than its time.
 */
function storeCheck({ clock, store }: StandardCheckParts): (timeoutMs: number) => () => Promise<void> {
  let asked: Promise<unknown> | undefined;
  return (timeoutMs) => () => {
    asked ??= store().finally(() => (asked = undefined));
    const answer = asked;
    return new Promise<void>((resolve, reject) => {
      const timer = clock.after(timeoutMs, () => reject(new Error(`no answer in ${timeoutMs} ms`)));
      answer.then(
        () => {
          timer.cancel();
          resolve();
        },
        (error: unknown) => {
          timer.cancel();
          reject(error instanceof Error ? error : new Error(String(error)));
        },
      );
    });
  };
}

function requireThat(holds: () => boolean, otherwise: string): () => void {
  return () => {
    if (!holds()) throw new Error(otherwise);
  };
}

/** True from the first time on: what has been loaded stays loaded, however far it falls behind. */
function once(holds: () => boolean): () => boolean {
  let held = false;
  return () => (held ||= holds());
}
