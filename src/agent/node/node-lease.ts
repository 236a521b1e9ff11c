import type { Lease } from '../../catalog/types/coordination.v1.js';
import { ClientError } from '../../kubeconfig-client/client-error.js';
import type { KubeconfigClient } from '../../kubeconfig-client/kubeconfig-client.js';
import { sleep, type Clock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import type { Rng } from '../../std/rng.js';
import { FailureLog } from './failure-log.js';
import type { NodeSettings } from './node-settings.js';
import { RetryDelay } from './retry-delay.js';

/** Share of the duration after which the Lease is renewed: 10 s of 40 s. */
const renewShare = 0.25;
const renewJitterShare = 0.04;
/** Attempts with the newest Lease before a delay. */
const conflictsMax = 5;
/** Renewals in a row with a conflict after which another agent must use the same name. */
const foreignRenewalsMax = 3;
const requestMsMax = 10_000;
/** Idle connections are closed after this number of failures: the server may be at another address. */
const failuresBeforeClose = 2;

interface Dependencies {
  readonly client: KubeconfigClient;
  readonly settings: Pick<NodeSettings, 'nodeName' | 'leaseDurationSeconds' | 'naming'>;
  /** The uid of the Node, which owns the Lease; undefined while there is no Node, and therefore no Lease. */
  readonly ownerUid: () => string | undefined;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
}

/** Renews the Lease of the Node, by which the server knows that this machine is alive. */
export class NodeLease {
  private readonly stopping = new AbortController();
  private readonly collection: string;
  private readonly failures: FailureLog;
  private readonly delay: RetryDelay;
  private running: Promise<void> | undefined;
  /** The Lease of the last answer; undefined if it must be read. */
  private latest: Lease | undefined;
  private foreignRenewals = 0;
  private failed = 0;

  constructor(private readonly dependencies: Dependencies) {
    const { settings, clock, rng, logger } = dependencies;
    const { naming } = settings;
    const group = naming.group('coordination');
    this.collection = `/apis/${group}/v1/namespaces/${naming.systemNamespace('node-lease')}/leases`;
    this.delay = new RetryDelay(rng);
    this.failures = new FailureLog(clock, logger, {
      failed: 'the Lease of the Node could not be renewed; the agent tries again',
      recovered: 'the Lease of the Node is renewed again',
    });
  }

  start(): void {
    this.running ??= this.run().catch((error: unknown) => {
      if (!this.stopping.signal.aborted) this.dependencies.logger.error('the renewal of the Lease ended', { error });
    });
  }

  async stop(): Promise<void> {
    this.stopping.abort(new Error('the agent stops'));
    await this.running;
  }

  private async run(): Promise<void> {
    const { clock, rng, settings, client, ownerUid } = this.dependencies;
    const { signal } = this.stopping;
    const renewMs = settings.leaseDurationSeconds * 1000 * renewShare;
    for (;;) {
      let waitMs = renewMs + rng.below(Math.ceil(renewMs * renewJitterShare));
      try {
        if (ownerUid() === undefined) waitMs = this.delay.next();
        else {
          await this.renew();
          this.failures.succeeded();
          this.delay.reset();
          this.failed = 0;
        }
      } catch (error) {
        if (signal.aborted) return;
        this.failures.failed(error, { lease: settings.nodeName });
        if (++this.failed === failuresBeforeClose) client.close();
        waitMs = this.delay.next();
      }
      await sleep(clock, waitMs, signal);
    }
  }

  private async renew(): Promise<void> {
    let hadConflict = false;
    for (let attempt = 1; ; attempt++) {
      try {
        await this.write();
        break;
      } catch (error) {
        const isConflict = hasStatus(error, 409);
        const isGone = hasStatus(error, 404) && this.latest !== undefined;
        this.latest = undefined;
        if (!(isConflict || isGone) || attempt >= conflictsMax) throw error;
        hadConflict ||= isConflict;
      }
    }
    this.noteConflict(hadConflict);
  }

  /** Updates the Lease as it was last seen, which fails if another client has changed it; reads or creates it at first. */
  private async write(): Promise<void> {
    const { client, settings } = this.dependencies;
    const options = { signal: this.stopping.signal, timeoutMs: requestMsMax };
    const path = `${this.collection}/${settings.nodeName}`;
    this.latest ??= await client.get<Lease>(path, options).catch((error: unknown) => {
      if (hasStatus(error, 404)) return undefined;
      throw error;
    });
    this.latest = this.latest
      ? await client.update<Lease>(path, this.renewed(this.latest), options)
      : await client.create<Lease>(this.collection, this.renewed(undefined), options);
  }

  private renewed(before: Lease | undefined): unknown {
    const { settings, clock, ownerUid } = this.dependencies;
    const { nodeName, leaseDurationSeconds, naming } = settings;
    const uid = ownerUid();
    const owner = uid !== undefined && { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: nodeName, uid }] };
    const spec = { holderIdentity: nodeName, leaseDurationSeconds, renewTime: microTime(clock.now()) };
    if (before) {
      return { ...before, metadata: { ...before.metadata, ...owner }, spec: { ...before.spec, ...spec } };
    }
    return {
      apiVersion: `${naming.group('coordination')}/v1`,
      kind: 'Lease',
      metadata: { name: nodeName, namespace: naming.systemNamespace('node-lease'), ...owner },
      spec,
    };
  }

  private noteConflict(hadConflict: boolean): void {
    const { logger, settings } = this.dependencies;
    this.foreignRenewals = hadConflict ? this.foreignRenewals + 1 : 0;
    if (this.foreignRenewals !== foreignRenewalsMax) return;
    logger.error(
      'another client renews the Lease of this Node: two agents have the same node name; give each machine its own --hostname-override, and stop the other agent',
      { node: settings.nodeName },
    );
  }
}

function hasStatus(error: unknown, status: number): boolean {
  return error instanceof ClientError && error.status === status;
}

/** Formats a time of a Lease: `2026-01-02T03:04:05.678000Z`. */
function microTime(timeMs: number): string {
  return new Date(timeMs).toISOString().replace('Z', '000Z');
}
