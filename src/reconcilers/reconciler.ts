import type { Aggregation } from '../aggregation/aggregation.js';
import type { RemoteObjects } from '../aggregation/remote-objects.js';
import type { SecretTokens } from '../auth/secret-tokens.js';
import type { TokenUses } from '../auth/token-uses.js';
import type { Live } from '../certificates/live.js';
import type { Signer } from '../certificates/issue-certificate.js';
import type { LoopbackClient } from '../client/loopback-client.js';
import type { NamingProfile } from '../config/naming-profile.js';
import type { Runs } from '../config/runs.js';
import type { ServerConfig } from '../config/server-config.js';
import type { UserInfo } from '../machinery/user-info.js';
import type { NodeMetrics } from '../metrics/node-metrics.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { ServiceAllocation } from '../service-allocation/service-allocation.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { Rng } from '../std/rng.js';
import type { ClientTrust } from './boot/client-trust.js';
import type { ControllerRole } from './boot/roles/controller-roles.js';
import type { NamespacedControllerRole } from './boot/roles/namespaced-roles.js';
import type { Upstream } from './upstream-presence.js';
import type { WorkQueue, WorkQueueOptions } from './work-queue.js';

/**
 * Declares a control loop. It follows objects through caches, adds the names of objects to check to a queue, and changes
 * each from its current to its desired state. It keeps no state of its own: after a restart, or when another server
 * becomes leader, it starts from all stored objects.
 */
export interface ReconcilerDefinition<Name extends string = string, When extends Runs = Runs> {
  /** The name in --controllers and logs; that of kube-controller-manager if it has the reconciler. */
  readonly name: Name;
  readonly runs: When;
  /** `leader`: one of the servers that share a store, the one with the leader election Lease. */
  readonly runsOn: 'leader' | 'every server';
  /** The role of this controller in kube-apiserver. Its service account is the user of all writes, `name` by default. */
  readonly role?: ControllerRole | NamespacedControllerRole;
  /** True if kube-controller-manager has the reconciler: while one is active, this one only does what it leaves undone. */
  readonly yieldsToUpstream?: boolean;
  /** The field manager in managedFields, if clients know it by a name. */
  readonly fieldManager?: (naming: NamingProfile) => string;
  start(dependencies: ReconcilerDependencies): RunningReconciler | Promise<RunningReconciler>;
}

export function defineReconciler<const Name extends string, const When extends Runs>(
  definition: ReconcilerDefinition<Name, When>,
): ReconcilerDefinition<Name, When> {
  return definition;
}

export interface RunningReconciler {
  /** Resolves when all its work has ended. */
  stop(): Promise<void>;
}

/** A reconciler whose resources are not served. */
export const idle: RunningReconciler = { stop: async () => undefined };

/** Facts of this server that are known after it has started to listen. */
export interface ServerFacts {
  readonly hostName: string;
  readonly port: number;
  /** PEM of the CA certificates that verify the serving certificate. */
  readonly rootCa: Live<string>;
  readonly clientTrust: Live<ClientTrust>;
  /** The CA of this server; undefined if its key is not on this server. */
  issuer(): Signer | undefined;
}

/** A cluster-wide permission to check for a user. */
export interface ClusterPermission {
  readonly user: UserInfo;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
}

/** Dependencies that `start` of every reconciler receives. */
export interface ReconcilerDependencies {
  /** The name of the reconciler. */
  readonly name: string;
  readonly config: ServerConfig;
  readonly registry: ResourceRegistry;
  /** Writes as the service account of the reconciler. */
  readonly client: LoopbackClient;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  readonly server: ServerFacts;
  readonly secretTokens: Pick<SecretTokens, 'issue'>;
  readonly tokenUses: Pick<TokenUses, 'onUnrecordedUse'>;
  readonly serviceAllocation: ServiceAllocation;
  readonly aggregation: Aggregation;
  /** Requests to aggregated servers as the service account of the reconciler. */
  readonly remoteObjects: RemoteObjects;
  /** The kube-controller-manager that this reconciler yields to. */
  readonly upstream: Upstream;
  readonly nodeMetrics: NodeMetrics;
  /** Answers as a SubjectAccessReview does. */
  readonly mayDo: (permission: ClusterPermission) => Promise<boolean>;
  /** True if other servers may use the same store. */
  readonly sharesStore: boolean;
  /** Creates a queue with metrics under `name`. Its failures are logged. */
  readonly queue: (
    name: string,
    work: WorkQueueOptions['work'],
    options?: { readonly workersMax?: number },
  ) => WorkQueue;
}
