import { isReason, type LoopbackClient, type ObjectRef } from '../../client/loopback-client.js';
import { apiVersionOf } from '../../machinery/gvk.js';
import { sleep, type Clock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import type { Rng } from '../../std/rng.js';
import { inTime, lastWriteMs, within } from '../in-time.js';
import { microTime, recordOf, released, takenBy, type LeaseRecord } from './lease-record.js';

export interface ElectionTimes {
  /** Time after the last renewal after which another server may acquire the Lease. */
  readonly leaseMs: number;
  /** Time after which a leader that cannot renew the Lease stops, well before another server may acquire it. */
  readonly renewDeadlineMs: number;
  readonly retryMs: number;
}

/** The defaults of kube-controller-manager. */
const electionTimes: ElectionTimes = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2000 };

interface ElectionDependencies {
  readonly client: LoopbackClient;
  readonly lease: ObjectRef;
  /** Unique for each start of a server. */
  readonly identity: string;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  readonly times?: ElectionTimes;
  /** Called when this server becomes leader. */
  readonly begin: () => Promise<void>;
  /** Called when it is leader no longer; resolves when all work has ended. */
  readonly end: () => Promise<void>;
}

/**
 * Leader election on a Lease, by the protocol of client-go. Clocks of other servers are not trusted: the age of a Lease is
 * the time since this server saw it change.
 *
 *   standby --acquires the Lease--> leader --not renewed in time--> standby
 */
export class LeaderElection {
  private readonly stopping = new AbortController();
  private readonly times: ElectionTimes;
  private running: Promise<void> | undefined;
  private observed: { readonly resourceVersion: string | undefined; readonly atMs: number } | undefined;

  constructor(private readonly dependencies: ElectionDependencies) {
    this.times = dependencies.times ?? electionTimes;
  }

  start(): void {
    this.running = this.run().catch((error: unknown) => {
      if (this.stopping.signal.aborted) return;
      this.dependencies.logger.error('leader election failed, this server runs no reconcilers; restart it', { error });
    });
  }

  /** Stops the work of a leader, then releases the Lease, so that another server can acquire it at once. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('the server is stopping'));
    await this.running;
  }

  private async run(): Promise<void> {
    const { clock, rng } = this.dependencies;
    const { retryMs } = this.times;
    const { signal } = this.stopping;
    while (!signal.aborted) {
      if (await this.attempt()) await this.lead();
      // Up to a fifth longer, so that servers do not try at the same time.
      await sleep(clock, retryMs + rng.below(Math.ceil(retryMs / 5)), signal).catch(() => undefined);
    }
  }

  private async lead(): Promise<void> {
    const { begin, end, lease, identity, logger } = this.dependencies;
    const { signal } = this.stopping;
    logger.info('became leader, starting reconcilers', { lease: lease.name, identity });
    try {
      await begin();
      await this.renew();
    } catch (error) {
      logger.error('became leader but could not start reconcilers; releasing the Lease', { lease: lease.name, error });
    }
    await end();
    if (!signal.aborted) logger.warn('lost leadership, stopped reconcilers', { lease: lease.name, identity });
    await this.release();
  }

  /** Renews the Lease. Resolves when it is lost, when it could not be renewed in time, or on stop(). */
  private async renew(): Promise<void> {
    const { clock } = this.dependencies;
    const { retryMs, renewDeadlineMs } = this.times;
    const { signal } = this.stopping;
    let renewedMs = clock.monotonicMs();
    while (!signal.aborted) {
      await sleep(clock, retryMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      const leftMs = renewedMs + renewDeadlineMs - clock.monotonicMs();
      if (leftMs <= 0) return;
      const startMs = clock.monotonicMs();
      const renewed = await this.attempt(leftMs);
      if (renewed) renewedMs = startMs;
      else if (renewed === undefined) return;
    }
  }

  /** Acquires or renews the Lease. Returns undefined if another server holds it, false if the attempt failed. */
  async attempt(timeoutMs = this.times.renewDeadlineMs): Promise<boolean | undefined> {
    const { clock, logger } = this.dependencies;
    const patience = new AbortController();
    const timer = clock.after(timeoutMs, () => patience.abort(new Error('the lease could not be renewed in time')));
    const signal = AbortSignal.any([patience.signal, this.stopping.signal]);
    try {
      return await within(signal, this.acquire(signal));
    } catch (error) {
      if (isReason(error, 'Conflict') || this.stopping.signal.aborted) return false;
      logger.warn('could not acquire or renew the leader election Lease; retrying', {
        lease: this.dependencies.lease.name,
        error,
      });
      return false;
    } finally {
      timer.cancel();
    }
  }

  private async acquire(signal: AbortSignal): Promise<boolean | undefined> {
    const { client, lease, identity, clock } = this.dependencies;
    const { leaseMs } = this.times;
    const found = await client.live(lease, signal);
    const now = microTime(clock.now());
    if (!found) {
      const spec = takenBy(identity, undefined, leaseMs / 1000, now);
      return (await client.create(lease.served, this.newLease(spec), signal)) || undefined;
    }
    const { resourceVersion } = found.metadata;
    if (this.observed?.resourceVersion !== resourceVersion) {
      this.observed = { resourceVersion, atMs: clock.monotonicMs() };
    }
    const record = recordOf(found);
    const validMs = this.observed!.atMs + record.leaseDurationSeconds * 1000;
    const isHeldByOther = record.holderIdentity !== '' && record.holderIdentity !== identity;
    if (isHeldByOther && validMs > clock.monotonicMs()) return undefined;
    await this.write(takenBy(identity, record, leaseMs / 1000, now), resourceVersion, signal);
    return true;
  }

  /** Does nothing if another server holds the Lease by now. */
  private async release(): Promise<void> {
    const { client, lease, identity, clock, logger } = this.dependencies;
    try {
      await inTime(clock, lastWriteMs, async (signal) => {
        const found = await client.live(lease, signal);
        if (!found || recordOf(found).holderIdentity !== identity) return;
        await this.write(released(recordOf(found), microTime(clock.now())), found.metadata.resourceVersion, signal);
      });
    } catch (error) {
      logger.warn('could not release the leader election Lease; other servers wait until it expires', {
        lease: lease.name,
        error,
      });
    }
  }

  private async write(record: LeaseRecord, resourceVersion: string | undefined, signal: AbortSignal): Promise<void> {
    const { client, lease } = this.dependencies;
    await client.change(lease, (current) => ({ ...current, spec: { ...record } }), {
      preconditions: { resourceVersion },
      signal,
    });
  }

  private newLease(spec: LeaseRecord) {
    const { served, namespace, name } = this.dependencies.lease;
    const { kind, group, version } = served.definition;
    return { kind, apiVersion: apiVersionOf(group, version), metadata: { name, namespace }, spec: { ...spec } };
  }
}
