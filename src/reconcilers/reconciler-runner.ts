import type { AdmissionChain } from '../admission/admission-chain.js';
import type { SecretTokens } from '../auth/secret-tokens.js';
import { authorize, type Authorizer } from '../auth/authorizer.js';
import { LoopbackClient } from '../client/loopback-client.js';
import { isReconcilerEnabled, isReconcilerNamed } from '../config/reconciler-names.js';
import type { ServerConfig } from '../config/server-config.js';
import {
  allAuthenticated,
  serviceAccountGroups,
  serviceAccountUserName,
  type UserInfo,
} from '../machinery/user-info.js';
import { ApiError } from '../machinery/api-error.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { Rng } from '../std/rng.js';
import { LeaderElection, type ElectionTimes } from './election/leader-election.js';
import type { AskedRight, Reconciler, ReconcilerParts, RunningReconciler, ServerFacts } from './reconciler.js';
import { startPersistently } from './start-persistently.js';
import { noUpstream, type Upstream } from './upstream-presence.js';
import { WorkQueue, type QueueObserver } from './work-queue.js';

export interface RunnerParts {
  readonly config: ServerConfig;
  readonly registry: ResourceRegistry;
  readonly admission: AdmissionChain;
  readonly authorizers: readonly Authorizer[];
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  readonly server: ServerFacts;
  readonly upstream: Upstream;
  readonly secretTokens: SecretTokens;
  readonly electionTimes?: ElectionTimes;
  readonly phase: { readonly reconcilers: Set<string> };
  readonly measure: (queue: string) => QueueObserver;
}

/** What a controller manager does is done after this time; then only what it left undone is found. */
const upstreamMs = 10_000;

interface Lists {
  /** Run by one of all servers on a store. */
  readonly once: readonly Reconciler[];
  /** Run by each. */
  readonly everywhere: readonly Reconciler[];
}

/** Starts the reconcilers that are switched on, here or on the server that is elected, and stops them in order. */
export class ReconcilerRunner {
  private everywhere: RunningReconciler[] = [];
  private once: RunningReconciler[] = [];
  private election: LeaderElection | undefined;

  constructor(
    private readonly parts: RunnerParts,
    private readonly lists: Lists,
  ) {}

  async start(): Promise<void> {
    const { config } = this.parts;
    const startAndNote = (reconciler: Reconciler) => this.persistently(reconciler, true);
    this.everywhere = await this.startAll(this.lists.everywhere, startAndNote);
    const chosen = this.lists.once.filter(({ name }) => isReconcilerEnabled(config.reconcilers.controllers, name));
    if (chosen.length === 0) return;
    if (!this.sharesStore) {
      this.once = await this.startAll(chosen, (reconciler) => this.persistently(reconciler));
      return;
    }
    this.election = this.elect(chosen);
    this.election.start();
  }

  async stop(): Promise<void> {
    await this.election?.stop();
    await stopAll(this.once.splice(0));
    this.parts.phase.reconcilers.clear();
    await stopAll(this.everywhere.splice(0));
  }

  private get sharesStore(): boolean {
    const { reconcilers, storage } = this.parts.config;
    if (reconcilers.leaderElection !== 'auto') return reconcilers.leaderElection === 'true';
    return storage.backend === 'etcd3';
  }

  private elect(chosen: readonly Reconciler[]): LeaderElection {
    const { config, registry, server, clock, rng, logger, electionTimes } = this.parts;
    const { naming } = config;
    const served = registry.require(naming.group('coordination'), 'v1', 'leases');
    return new LeaderElection({
      client: this.clientOf('leader-election'),
      lease: { served, namespace: naming.systemNamespace('system'), name: 'keelson-reconcilers' },
      identity: `${server.hostName}_${rng.uuid()}`,
      clock,
      rng,
      logger,
      ...(electionTimes && { times: electionTimes }),
      begin: async () => void (this.once = await this.startAll(chosen)),
      end: () => stopAll(this.once.splice(0)),
    });
  }

  private async startAll(
    reconcilers: readonly Reconciler[],
    start = (reconciler: Reconciler) => reconciler.start(this.partsFor(reconciler)),
  ): Promise<RunningReconciler[]> {
    const running: RunningReconciler[] = [];
    for (const reconciler of reconcilers) running.push(await start(reconciler));
    return running;
  }

  /** With `notes`, health checks see the reconciler from when it runs. */
  private readonly persistently = (reconciler: Reconciler, notes = false): Promise<RunningReconciler> => {
    const { clock, logger, phase } = this.parts;
    const start = async () => {
      const running = await reconciler.start(this.partsFor(reconciler));
      if (notes) phase.reconcilers.add(reconciler.name);
      return running;
    };
    return startPersistently(reconciler.name, start, { clock, logger });
  };

  private partsFor(reconciler: Reconciler): ReconcilerParts {
    const { name, account = name, fieldManager } = reconciler;
    const upstream = this.upstreamOf(reconciler);
    const { config, registry, clock, rng, logger, server, secretTokens, measure } = this.parts;
    return {
      name,
      config,
      registry,
      clock,
      rng,
      logger,
      server,
      secretTokens,
      upstream,
      mayDo: (right) => this.mayDo(right),
      sharesStore: this.sharesStore,
      client: this.clientOf(account, fieldManager?.(config.naming)),
      queue: (queue, work, options = {}) =>
        new WorkQueue({
          clock,
          rng,
          work,
          observer: measure(queue),
          delayMs: () => (upstream.isActive() ? upstreamMs : 0),
          failed: (item, error, retryInMs) => {
            const message = 'a reconciler failed for an object; retrying';
            // A conflict (another write was first) is expected.
            const isTrouble = !(error instanceof ApiError && error.reason === 'Conflict');
            logger[isTrouble ? 'warn' : 'debug'](message, { reconciler: name, item, error, retryInMs });
          },
          ...options,
        }),
    };
  }

  /** A reconciler that --controllers names by itself runs whatever others do. */
  private upstreamOf({ name, yieldsToUpstream = false }: Reconciler): Upstream {
    const { config, upstream } = this.parts;
    return yieldsToUpstream && !isReconcilerNamed(config.reconcilers.controllers, name) ? upstream : noUpstream;
  }

  private async mayDo(right: AskedRight): Promise<boolean> {
    const everywhere = { isResourceRequest: true, version: '*', namespace: '', name: '', path: '' };
    return (await authorize(this.parts.authorizers, { ...everywhere, ...right })).decision === 'allow';
  }

  private clientOf(account: string, fieldManager = 'keelson'): LoopbackClient {
    const { admission, config } = this.parts;
    return new LoopbackClient({ admission, user: accountOf(config, account), fieldManager });
  }
}

/** As the reference's controllers: each an account of its own in the system namespace, by which admission knows it. */
function accountOf({ naming }: ServerConfig, name: string): UserInfo {
  const namespace = naming.systemNamespace('system');
  const groups = [...serviceAccountGroups(namespace), allAuthenticated];
  return { name: serviceAccountUserName(namespace, name), uid: '', groups, extra: {} };
}

async function stopAll(running: readonly RunningReconciler[]): Promise<void> {
  await Promise.all(running.map((reconciler) => reconciler.stop()));
}
