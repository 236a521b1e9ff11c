import type { Aggregation } from '../aggregation/aggregation.js';
import type { AdmissionChain } from '../admission/admission-chain.js';
import type { SecretTokens } from '../auth/secret-tokens.js';
import { authorize, type Authorizers } from '../auth/authorizer.js';
import type { TokenUses } from '../auth/token-uses.js';
import { RemoteObjects } from '../aggregation/remote-objects.js';
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
import type { NodeMetrics } from '../metrics/node-metrics.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { ServiceAllocation } from '../service-allocation/service-allocation.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { Rng } from '../std/rng.js';
import { LeaderElection, type ElectionTimes } from './election/leader-election.js';
import type {
  ClusterPermission,
  ReconcilerDefinition,
  ReconcilerDependencies,
  RunningReconciler,
  ServerFacts,
} from './reconciler.js';
import { startPersistently } from './start-persistently.js';
import { noUpstream, type Upstream } from './upstream-presence.js';
import { WorkQueue, type QueueObserver } from './work-queue.js';

interface RunnerDependencies {
  readonly config: ServerConfig;
  readonly registry: ResourceRegistry;
  readonly admission: AdmissionChain;
  readonly authorizers: Authorizers;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  readonly server: ServerFacts;
  readonly upstream: Upstream;
  readonly secretTokens: SecretTokens;
  readonly tokenUses: TokenUses;
  readonly serviceAllocation: ServiceAllocation;
  readonly aggregation: Aggregation;
  readonly electionTimes?: ElectionTimes;
  /** True if other servers may use the same store. */
  readonly storeIsShared: boolean;
  readonly phase: { readonly reconcilers: Set<string> };
  readonly measure: (queue: string) => QueueObserver;
  readonly nodeMetrics: NodeMetrics;
}

/** Delay of each item while a kube-controller-manager is active: it has done its part by then. */
const upstreamMs = 10_000;

/** Starts the enabled reconcilers, those of the leader when this server is elected, and stops them in order. */
export class ReconcilerRunner {
  private onEveryServer: RunningReconciler[] = [];
  private onLeader: RunningReconciler[] = [];
  private election: LeaderElection | undefined;

  constructor(
    private readonly dependencies: RunnerDependencies,
    private readonly definitions: readonly ReconcilerDefinition[],
  ) {}

  async start(): Promise<void> {
    const startAndNote = (definition: ReconcilerDefinition) => this.startWithRetries(definition, { notes: true });
    this.onEveryServer = await this.startAll(this.enabled('every server'), startAndNote);
    const ofLeader = this.enabled('leader');
    if (ofLeader.length === 0) return;
    if (!this.sharesStore) {
      this.onLeader = await this.startAll(ofLeader, (definition) => this.startWithRetries(definition));
      return;
    }
    this.election = this.elect(ofLeader);
    this.election.start();
  }

  async stop(): Promise<void> {
    await this.election?.stop();
    await stopAll(this.onLeader.splice(0));
    this.dependencies.phase.reconcilers.clear();
    await stopAll(this.onEveryServer.splice(0));
  }

  private enabled(runsOn: ReconcilerDefinition['runsOn']): ReconcilerDefinition[] {
    const { controllers } = this.dependencies.config.reconcilers;
    return this.definitions.filter(
      (definition) => definition.runsOn === runsOn && isReconcilerEnabled(controllers, definition),
    );
  }

  private get sharesStore(): boolean {
    const { config, storeIsShared } = this.dependencies;
    const { leaderElection } = config.reconcilers;
    return leaderElection === 'auto' ? storeIsShared : leaderElection === 'true';
  }

  private elect(ofLeader: readonly ReconcilerDefinition[]): LeaderElection {
    const { config, registry, server, clock, rng, logger, electionTimes } = this.dependencies;
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
      begin: async () => void (this.onLeader = await this.startAll(ofLeader)),
      end: () => stopAll(this.onLeader.splice(0)),
    });
  }

  private async startAll(
    definitions: readonly ReconcilerDefinition[],
    start = (definition: ReconcilerDefinition) => definition.start(this.dependenciesOf(definition)),
  ): Promise<RunningReconciler[]> {
    const running: RunningReconciler[] = [];
    for (const definition of definitions) running.push(await start(definition));
    return running;
  }

  /** Starts a reconciler, again and again if that fails. With `notes`, health checks see it when it runs. */
  private startWithRetries(definition: ReconcilerDefinition, { notes = false } = {}): Promise<RunningReconciler> {
    const { clock, logger, phase } = this.dependencies;
    const start = async () => {
      const running = await definition.start(this.dependenciesOf(definition));
      if (notes) phase.reconcilers.add(definition.name);
      return running;
    };
    return startPersistently(definition.name, start, { clock, logger });
  }

  private dependenciesOf(definition: ReconcilerDefinition): ReconcilerDependencies {
    const { name, role: account = name, fieldManager } = definition;
    const upstream = this.upstreamOf(definition);
    const {
      config,
      registry,
      clock,
      rng,
      logger,
      server,
      secretTokens,
      tokenUses,
      serviceAllocation,
      measure,
      nodeMetrics,
    } = this.dependencies;
    const { aggregation } = this.dependencies;
    return {
      name,
      config,
      registry,
      clock,
      rng,
      logger,
      server,
      secretTokens,
      tokenUses,
      serviceAllocation,
      aggregation,
      remoteObjects: this.remoteObjectsOf(account),
      upstream,
      nodeMetrics,
      mayDo: (permission) => this.mayDo(permission),
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

  /** A reconciler that --controllers names does not yield, unless it has to be named to run at all. */
  private upstreamOf({ name, runs, yieldsToUpstream = false }: ReconcilerDefinition): Upstream {
    const { config, upstream } = this.dependencies;
    const isChosen = runs === 'by default' && isReconcilerNamed(config.reconcilers.controllers, name);
    return yieldsToUpstream && !isChosen ? upstream : noUpstream;
  }

  private async mayDo(permission: ClusterPermission): Promise<boolean> {
    const clusterWide = { isResourceRequest: true, version: '*', namespace: '', name: '', path: '' };
    return (await authorize(this.dependencies.authorizers, { ...clusterWide, ...permission })).decision === 'allow';
  }

  private remoteObjectsOf(account: string): RemoteObjects {
    const { aggregation, config, clock } = this.dependencies;
    return new RemoteObjects({
      ...{ client: aggregation.client, user: accountOf(config, account), clock },
      metaGroup: config.naming.group('meta'),
      bytesMax: config.limits.aggregatedListBytesMax,
    });
  }

  private clientOf(account: string, fieldManager = 'keelson'): LoopbackClient {
    const { admission, config } = this.dependencies;
    return new LoopbackClient({ admission, user: accountOf(config, account), fieldManager });
  }
}

/** The service account of a reconciler in the system namespace, as kube-controller-manager has one for each controller. */
function accountOf({ naming }: ServerConfig, name: string): UserInfo {
  const namespace = naming.systemNamespace('system');
  const groups = [...serviceAccountGroups(namespace), allAuthenticated];
  return { name: serviceAccountUserName(namespace, name), uid: '', groups, extra: {} };
}

async function stopAll(running: readonly RunningReconciler[]): Promise<void> {
  await Promise.all(running.map((reconciler) => reconciler.stop()));
}
