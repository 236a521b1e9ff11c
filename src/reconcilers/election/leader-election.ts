import { isReason, type LoopbackClient, type ObjectRef } from '../../client/loopback-client.js';
import { apiVersionOf } from '../../machinery/gvk.js';
import { sleep, type Clock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import type { Rng } from '../../std/rng.js';
import { inTime, partingMs, within } from '../in-time.js';
import { microTime, recordOf, released, takenBy, type LeaseRecord } from './lease-record.js';

export interface ElectionTimes {
  /** After so long without a word of the holder, others may take the lease. */
  readonly leaseMs: number;
  /** A holder who could not renew it for so long stops by itself, well before others may begin. */
  readonly renewDeadlineMs: number;
  readonly retryMs: number;
}

/** As kube-controller-manager has them. */
export const electionTimes: ElectionTimes = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2000 };

export interface ElectionParts {
  readonly client: LoopbackClient;
  readonly lease: ObjectRef;
  /** Of nobody else, ever. */
  readonly identity: string;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  readonly times?: ElectionTimes;
  /** The lease is ours. */
  readonly begin: () => Promise<void>;
  /** It is not any more: resolves when nothing is under way. */
  readonly end: () => Promise<void>;
}

/**
 * Who of several holds a lease, by the protocol of client-go. Clocks of others are not believed: a lease is as old as
 * the time since this server saw it change.
 *
 *   standing by --takes it--> leading --not renewed in time--> standing by
 */
export class LeaderElection {
  private readonly stopping = new AbortController();
  private readonly times: ElectionTimes;
  private running: Promise<void> | undefined;
  private observed: { readonly resourceVersion: string | undefined; readonly atMs: number } | undefined;

  constructor(private readonly parts: ElectionParts) {
    this.times = parts.times ?? electionTimes;
  }

  start(): void {
    this.running = this.run().catch((error: unknown) => {
      if (this.stopping.signal.aborted) return;
      this.parts.logger.error('leader election failed, this server runs no reconcilers; restart it', { error });
    });
  }

  /** Ends what runs, then lets others have the lease at once. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('the server is stopping'));
    await this.running;
  }

  private async run(): Promise<void> {
    const { clock, rng } = this.parts;
    const { retryMs } = this.times;
    const { signal } = this.stopping;
    while (!signal.aborted) {
      if (await this.attempt()) await this.lead();
      // Not all at once: up to a fifth more.
      await sleep(clock, retryMs + rng.below(Math.ceil(retryMs / 5)), signal).catch(() => undefined);
    }
  }

  private async lead(): Promise<void> {
    const { begin, end, lease, identity, logger } = this.parts;
    const { signal } = this.stopping;
    logger.info('became leader, starting reconcilers', { lease: lease.name, identity });
    try {
      await begin();
      await this.keep();
    } catch (error) {
      logger.error('became leader but could not start reconcilers; releasing the Lease', { lease: lease.name, error });
    }
    await end();
    if (!signal.aborted) logger.warn('lost leadership, stopped reconcilers', { lease: lease.name, identity });
    await this.release();
  }

  /** Resolves when the lease is lost, or could not be renewed for too long, or is to be given back. */
  private async keep(): Promise<void> {
    const { clock } = this.parts;
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

  /** Whether the lease is ours now; undefined when it is somebody else's, false when that cannot be told. */
  async attempt(timeoutMs = this.times.renewDeadlineMs): Promise<boolean | undefined> {
    const { clock, logger } = this.parts;
    const patience = new AbortController();
    const timer = clock.after(timeoutMs, () => patience.abort(new Error('the lease could not be renewed in time')));
    const signal = AbortSignal.any([patience.signal, this.stopping.signal]);
    try {
      return await within(signal, this.take(signal));
    } catch (error) {
      if (isReason(error, 'Conflict') || this.stopping.signal.aborted) return false;
      logger.warn('could not acquire or renew the leader election Lease; retrying', {
        lease: this.parts.lease.name,
        error,
      });
      return false;
    } finally {
      timer.cancel();
    }
  }

  private async take(signal: AbortSignal): Promise<boolean | undefined> {
    const { client, lease, identity, clock } = this.parts;
    const { leaseMs } = this.times;
    const found = await client.live(lease, signal);
    const now = microTime(clock.now());
    if (!found) {
      const spec = takenBy(identity, undefined, leaseMs / 1000, now);
      return (await client.create(lease.served, this.made(spec), signal)) || undefined;
    }
    const { resourceVersion } = found.metadata;
    if (this.observed?.resourceVersion !== resourceVersion) {
      this.observed = { resourceVersion, atMs: clock.monotonicMs() };
    }
    const record = recordOf(found);
    const validMs = this.observed!.atMs + record.leaseDurationSeconds * 1000;
    const isOthers = record.holderIdentity !== '' && record.holderIdentity !== identity;
    if (isOthers && validMs > clock.monotonicMs()) return undefined;
    await this.write(takenBy(identity, record, leaseMs / 1000, now), resourceVersion, signal);
    return true;
  }

  /** Does nothing where the lease is somebody else's by now. */
  private async release(): Promise<void> {
    const { client, lease, identity, clock, logger } = this.parts;
    try {
      await inTime(clock, partingMs, async (signal) => {
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
    const { client, lease } = this.parts;
    await client.change(lease, (current) => ({ ...current, spec: { ...record } }), {
      preconditions: { resourceVersion },
      signal,
    });
  }

  private made(spec: LeaseRecord) {
    const { served, namespace, name } = this.parts.lease;
    const { kind, group, version } = served.definition;
    return { kind, apiVersion: apiVersionOf(group, version), metadata: { name, namespace }, spec: { ...spec } };
  }
}
