import type { SecretTokens } from '../auth/secret-tokens.js';
import type { Live } from '../certificates/live.js';
import type { Signer } from '../certificates/issue-certificate.js';
import type { LoopbackClient } from '../client/loopback-client.js';
import type { NamingProfile } from '../config/naming-profile.js';
import type { ServerConfig } from '../config/server-config.js';
import type { UserInfo } from '../machinery/user-info.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { Rng } from '../std/rng.js';
import type { ClientTrust } from './boot/client-trust.js';
import type { Upstream } from './upstream-presence.js';
import type { WorkQueue, WorkQueueOptions } from './work-queue.js';

/**
 * A control loop. It follows objects through the cache, notes the names of what may have to be changed in a queue, and
 * brings each from what is there to what should be. It believes nothing that it remembers: after a restart, or when
 * another server takes over, it begins with everything that is there.
 */
export interface Reconciler {
  /** As kube-controller-manager names it, where it has it: what --controllers says (config/reconciler-names.ts). */
  readonly name: string;
  /** The account in whose name it acts, as in the reference; the same as `name` where not said. */
  readonly account?: string;
  /** True where kube-controller-manager does the same: while one is at work, this one only does what it leaves undone. */
  readonly yieldsToUpstream?: boolean;
  /** Under which objects note what it writes, where clients know it by a name. */
  readonly fieldManager?: (naming: NamingProfile) => string;
  start(parts: ReconcilerParts): RunningReconciler | Promise<RunningReconciler>;
}

export interface RunningReconciler {
  /** Resolves when nothing of it is under way. */
  stop(): Promise<void>;
}

/** What is known of this server only when it has been started. */
export interface ServerFacts {
  readonly hostName: string;
  readonly port: number;
  /** PEM of the authorities that verify the serving certificate. */
  readonly rootCa: Live<string>;
  readonly clientTrust: Live<ClientTrust>;
  /** The server's own authority; undefined where its key is kept elsewhere. */
  issuer(): Signer | undefined;
}

/** A right that is asked about, for the whole cluster. */
export interface AskedRight {
  readonly user: UserInfo;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
}

export interface ReconcilerParts {
  /** Of the reconciler that these are given to. */
  readonly name: string;
  readonly config: ServerConfig;
  readonly registry: ResourceRegistry;
  /** Acts in the name of this reconciler. */
  readonly client: LoopbackClient;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  readonly server: ServerFacts;
  readonly secretTokens: Pick<SecretTokens, 'issue'>;
  /** The controller manager that this reconciler yields to. */
  readonly upstream: Upstream;
  /** As a SubjectAccessReview would answer. */
  readonly mayDo: (right: AskedRight) => Promise<boolean>;
  /** Whether other servers may work on the same store. */
  readonly sharesStore: boolean;
  /** A queue that is measured under `name`, and whose failures are logged. */
  readonly queue: (
    name: string,
    work: WorkQueueOptions['work'],
    options?: { readonly workersMax?: number },
  ) => WorkQueue;
}
