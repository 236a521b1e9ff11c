import type { Node, NodeCondition } from '../../catalog/types/core.v1.js';
import { ClientError } from '../../kubeconfig-client/client-error.js';
import type { KubeconfigClient } from '../../kubeconfig-client/kubeconfig-client.js';
import { sleep, type Clock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import type { Rng } from '../../std/rng.js';
import { FailureLog } from './failure-log.js';
import type { HostFacts } from './host-facts.js';
import { initialNode, metadataChanges } from './initial-node.js';
import type { NodeSettings } from './node-settings.js';
import { RetryDelay } from './retry-delay.js';
import type { StatusObserver } from './status-observer.js';
import { hasStatusChanged, statusPatch } from './status-patch.js';

/** A Node that is not ready is observed so often at first, so that it becomes ready soon after its runtime. */
const unreadyMs = 1_000;
const unreadyUntilMs = 2 * 60_000;
const requestMsMax = 10_000;

interface Dependencies {
  readonly client: KubeconfigClient;
  readonly settings: NodeSettings;
  readonly observer: StatusObserver;
  readonly facts: HostFacts;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
}

/** Registers the Node, then keeps its status up to date. */
export class NodeLoop {
  private readonly stopping = new AbortController();
  private readonly path: string;
  private readonly failures: FailureLog;
  private readonly delay: RetryDelay;
  private running: Promise<void> | undefined;
  /** Monotonic time of the last PATCH; undefined before the first one. */
  private reportedAtMs: number | undefined;
  /** Added to --node-status-report-frequency: nodes that started together do not report together. */
  private reportDelayMs = 0;
  private lastReady: string | undefined;
  /** The Node of the last answer. */
  private node: Node | undefined;

  constructor(private readonly dependencies: Dependencies) {
    const { settings, clock, rng, logger } = dependencies;
    this.path = `/api/v1/nodes/${settings.nodeName}`;
    this.delay = new RetryDelay(rng);
    this.failures = new FailureLog(clock, logger, {
      failed: 'the Node could not be registered or updated; the agent tries again',
      recovered: 'the Node can be updated again',
    });
  }

  /** The uid of the Node, for the Lease that it owns; undefined if there is no Node. */
  get uid(): string | undefined {
    return this.node?.metadata.uid;
  }

  start(): void {
    this.running ??= this.run().catch((error: unknown) => {
      if (!this.stopping.signal.aborted)
        this.dependencies.logger.error('the status updates of the Node ended', { error });
    });
  }

  async stop(): Promise<void> {
    this.stopping.abort(new Error('the agent stops'));
    await this.running;
  }

  private async run(): Promise<void> {
    const { clock, settings } = this.dependencies;
    const { signal } = this.stopping;
    const startedAtMs = clock.monotonicMs();
    let isRegistered = !settings.registersNode;
    for (;;) {
      let waitMs: number;
      try {
        const isNew = !isRegistered && (await this.register());
        isRegistered = true;
        if (!isNew) await this.update();
        this.failures.succeeded();
        this.delay.reset();
        const isEarly = this.lastReady !== 'True' && clock.monotonicMs() - startedAtMs < unreadyUntilMs;
        waitMs = isEarly ? Math.min(unreadyMs, settings.statusUpdateMs) : settings.statusUpdateMs;
      } catch (error) {
        if (signal.aborted) return;
        const advice = adviceOn(error, settings);
        this.failures.failed(error, { node: settings.nodeName, ...(advice !== undefined && { advice }) });
        waitMs = this.delay.next();
      }
      await sleep(clock, waitMs, signal);
    }
  }

  /** Creates the Node and returns true, or adds the labels to an existing one. */
  private async register(): Promise<boolean> {
    const { client, settings, observer, facts, logger } = this.dependencies;
    const { signal } = this.stopping;
    const status = await observer.observe({}, signal);
    const wanted = initialNode(settings, facts, status);
    try {
      this.accept(await client.create<Node>('/api/v1/nodes', wanted, { signal, timeoutMs: requestMsMax }));
      this.reported();
      logger.info('registered the Node', { node: settings.nodeName });
      this.noteReadiness(status.conditions);
      return true;
    } catch (error) {
      // A node that may not create its Node may still have one.
      if (!isStatus(error, 409) && !isStatus(error, 403)) throw error;
      const existing = await this.read().catch((failure: unknown) => {
        throw isStatus(failure, 404) ? error : failure;
      });
      const changes = metadataChanges(wanted, existing, settings.naming);
      if (changes) {
        await client.patch<Node>(this.path, changes, { type: 'strategic', signal, timeoutMs: requestMsMax });
      }
      logger.info('the Node was registered before', { node: settings.nodeName });
      return false;
    }
  }

  /** Sends the status if it has changed or the last report is old. */
  private async update(): Promise<void> {
    const { client, observer, settings, clock, rng } = this.dependencies;
    const { signal } = this.stopping;
    const node = await this.read();
    const status = await observer.observe(node, signal);
    const isChanged = hasStatusChanged(node.status ?? {}, status);
    const isDue =
      this.reportedAtMs === undefined ||
      clock.monotonicMs() - this.reportedAtMs >= settings.statusReportMs + this.reportDelayMs;
    this.noteReadiness(status.conditions);
    if (!isChanged && !isDue) return;
    const patch = statusPatch(node.status ?? {}, status);
    if (!patch) return;
    const isFirst = this.reportedAtMs === undefined;
    this.accept(
      await client.patch<Node>(`${this.path}/status`, patch, { type: 'strategic', signal, timeoutMs: requestMsMax }),
    );
    this.reported();
    // After a change, the next report comes up to half of the frequency earlier or later, so that nodes do not report
    // together; later ones come at the frequency itself.
    const { statusReportMs } = settings;
    this.reportDelayMs = isChanged || isFirst ? rng.below(statusReportMs) - Math.floor(statusReportMs / 2) : 0;
  }

  /** Reads the Node from the cache of the server; a cache that does not have it may only be behind. */
  private async read(): Promise<Node> {
    const { client } = this.dependencies;
    const options = { signal: this.stopping.signal, timeoutMs: requestMsMax };
    try {
      const cached = await client.get<Node>(this.path, { ...options, query: { resourceVersion: '0' } });
      return this.accept(cached);
    } catch (error) {
      if (!isStatus(error, 404)) throw error;
      this.node = undefined;
      return this.accept(await client.get<Node>(this.path, options));
    }
  }

  private accept(node: Node): Node {
    this.node = node;
    return node;
  }

  private reported(): void {
    this.reportedAtMs = this.dependencies.clock.monotonicMs();
  }

  private noteReadiness(conditions: readonly NodeCondition[] = []): void {
    const { logger, settings } = this.dependencies;
    const ready = conditions.find(({ type }) => type === 'Ready');
    if (ready?.status === this.lastReady) return;
    this.lastReady = ready?.status;
    const fields = { node: settings.nodeName, message: ready?.message };
    if (ready?.status === 'True') logger.info('the Node is ready', fields);
    else logger.warn('the Node is not ready; see the message', fields);
  }
}

function isStatus(error: unknown, status: number): boolean {
  return error instanceof ClientError && error.status === status;
}

/** Returns the action that helps against an error; undefined if the agent only has to wait. */
function adviceOn(error: unknown, { nodeName, registersNode }: NodeSettings): string | undefined {
  if (isStatus(error, 401)) return 'write a new kubeconfig: the server refuses the credentials of the agent';
  if (isStatus(error, 403))
    return `the user of the kubeconfig must be system:node:${nodeName} in the group system:nodes`;
  if (!isStatus(error, 404)) return undefined;
  return registersNode ? 'the Node was deleted; restart the agent to register it again' : 'create the Node';
}
