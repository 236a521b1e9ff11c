import type { Revision } from '../../../machinery/revision.js';
import { sleep, type Timer } from '../../../std/clock.js';
import type { Logger } from '../../../std/logger.js';
import type { GetResult, Watch, WatchOptions, WatchSink } from '../../kv-store.js';
import { StorageError } from '../../storage-error.js';
import { jittered, type EtcdCluster } from './etcd-cluster.js';
import type { EtcdEndpoint, WatchStream } from './etcd-endpoint.js';
import { bytesOfKey, endOfPrefix, storeEventOf, type EtcdEvent, type WatchResponse } from './etcd-messages.js';
import { traitsOf, type EtcdTraits } from './etcd-versions.js';

const progressAnswerMs = 100;
/** Requests for progress that may stay unanswered, while the store has later revisions, before the watch moves on. */
const silentRequestsMax = 15;
const reconnectDelayMsMax = 1_000;
/** The time for etcd to create a watch, which takes no work. */
const creationTimeoutMs = 3_000;

interface EtcdWatchOptions {
  readonly cluster: EtcdCluster;
  readonly logger: Logger;
  readonly revision: () => Promise<Revision>;
  readonly read: (key: string, revision: Revision) => Promise<GetResult>;
  readonly over: (watch: EtcdWatch) => void;
  readonly prefix: string;
  readonly options: WatchOptions;
  readonly sink: WatchSink;
}

interface DeliveredEvent {
  readonly key: string;
  readonly revision: Revision;
  readonly isDeletion: boolean;
}

/** One connection attempt. Messages of earlier ones are ignored. */
interface Connection {
  readonly endpoint: EtcdEndpoint;
  stream?: WatchStream;
  isCreated: boolean;
  traits?: EtcdTraits;
  /** Requests for progress since the last message. */
  silentRequests: number;
  /** The fragments received so far of a split response. */
  fragments: EtcdEvent[];
}

/**
 * A watch with its own gRPC stream (all streams share one connection), so that a progress response, which etcd gives
 * per stream, concerns this watch alone. Only `next` must survive a lost stream:
 *
 *   from = 5   events 5, 6 delivered → next = 7   progress 9 → next = 10   stream lost → a new one starts at 10
 *
 * If an old etcd does not order progress responses (see etcd-versions.ts), a watch that needs progress is widened to
 * all keys: every revision then appears on the stream, and events outside the prefix count as progress.
 */
export class EtcdWatch implements Watch {
  private next: number;
  /** The last revision that was reported to the sink. */
  private reported = 0;
  private connection: Connection | undefined;
  private timer: Timer | undefined;
  private failures = 0;
  private isOpen = true;
  private isProgressWanted = false;
  private isPursuing = false;
  private breadth: 'prefix' | 'all' | 'prefixOnly' = 'prefix';
  /** The last delivered event. Its key, read at its revision, shows whether the history is still the same. */
  private last: DeliveredEvent | undefined;
  private readonly generation: number;

  constructor(private readonly dependencies: EtcdWatchOptions) {
    // For etcd 0 means "from now on"; here it means the beginning of history.
    this.next = Math.max(1, dependencies.options.from);
    this.generation = dependencies.cluster.continuity.generation;
  }

  start(): void {
    void this.connect();
  }

  requestProgress(): void {
    this.isProgressWanted = true;
    if (!this.isPursuing) void this.pursueProgress();
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.disconnect();
    this.dependencies.over(this);
  }

  end(error: Error): void {
    if (!this.isOpen) return;
    this.close();
    this.dependencies.sink.ended(error);
  }

  private async connect(): Promise<void> {
    const { cluster, prefix, options } = this.dependencies;
    const connection: Connection = { endpoint: cluster.current, isCreated: false, fragments: [], silentRequests: 0 };
    this.connection = connection;
    try {
      await cluster.connect(connection.endpoint);
      connection.traits = traitsOf(connection.endpoint.version);
      await this.checkHistory(connection.traits);
    } catch (error) {
      if (this.connection !== connection) return;
      const isOver = error instanceof StorageError && (error.code === 'compacted' || error.code === 'regressed');
      return isOver ? this.end(error) : this.lost(connection, error as Error);
    }
    if (this.connection !== connection) return;
    const watched = this.breadth === 'all' ? '' : prefix;
    try {
      connection.stream = connection.endpoint.openWatch({
        received: (response) => this.received(connection, response),
        closed: (error) => this.lost(connection, error ?? new Error('the stream was ended by etcd')),
      });
    } catch (error) {
      return this.lost(connection, error as Error);
    }
    connection.stream.send({
      type: 'create',
      key: bytesOfKey(watched),
      rangeEnd: endOfPrefix(watched),
      startRevision: this.next,
      hasProgressNotes: true,
      withPrevious: options.withPrevious === true,
      isFragmented: true,
    });
    this.timer = cluster.options.clock.after(creationTimeoutMs, () =>
      this.lost(connection, new Error('the watch was not created in time')),
    );
  }

  /**
   * Rejects with 'regressed' if the history is no longer the one whose events were delivered, and with 'compacted' if
   * the watch would miss a deletion.
   */
  private async checkHistory({ keepsDeletionAtFloor }: EtcdTraits): Promise<void> {
    const { cluster, read, prefix } = this.dependencies;
    if (cluster.continuity.generation !== this.generation)
      throw new StorageError('regressed', 'etcd is another one than when the watch began');
    const { last } = this;
    if (last) {
      const state = await read(last.key, last.revision).catch(unless('compacted'));
      if (state && state.item?.modRevision !== (last.isDeletion ? undefined : last.revision))
        throw cluster.continuity.replaced(`${last.key} at revision ${last.revision} is not what the watch delivered`);
    }
    if (!keepsDeletionAtFloor && this.next > 1)
      await read(prefix, (this.next - 1) as Revision).catch(unless('futureRevision'));
  }

  private disconnect(): void {
    this.timer?.cancel();
    this.timer = undefined;
    const stream = this.connection?.stream;
    this.connection = undefined;
    stream?.cancel();
  }

  private lost(connection: Connection, error: Error): void {
    if (this.connection !== connection) return;
    const { cluster, logger, prefix } = this.dependencies;
    const { clock, rng } = cluster.options;
    this.disconnect();
    cluster.leave(connection.endpoint);
    if (this.failures === 0) {
      logger.warn('an etcd watch lost its connection; resuming', {
        server: connection.endpoint.url,
        prefix,
        revision: this.next,
        error: error.message,
      });
    }
    const delayMs = Math.min(reconnectDelayMsMax, 50 * 2 ** Math.min(this.failures++, 10));
    this.timer = clock.after(jittered(delayMs, rng), () => void this.connect());
  }

  private received(connection: Connection, response: WatchResponse): void {
    if (this.connection !== connection) return;
    connection.silentRequests = 0;
    try {
      this.handle(connection, response);
    } catch (error) {
      this.end(error as Error);
    }
  }

  private handle(connection: Connection, response: WatchResponse): void {
    if (response.isCancelled) return this.cancelled(connection, response);
    if (response.isCreated) {
      this.timer?.cancel();
      connection.isCreated = true;
      if (this.failures > 0)
        this.dependencies.logger.info('the etcd watch has resumed', { server: connection.endpoint.url });
      this.failures = 0;
      return;
    }
    if (response.events.length > 0) {
      connection.fragments.push(...response.events);
      if (response.isFragment) return;
      const events = connection.fragments;
      connection.fragments = [];
      return this.deliver(events);
    }
    this.progress(response.revision);
  }

  private cancelled(connection: Connection, response: WatchResponse): void {
    const compacted = response.compactRevision;
    if (compacted > 0) {
      const message = `revision ${this.next} is below ${compacted}, the first one kept`;
      return this.end(new StorageError('compacted', message));
    }
    // A user with access to some keys only cannot watch all keys: go back to the prefix.
    if (this.breadth === 'all') this.breadth = 'prefixOnly';
    this.lost(connection, new Error(response.cancelReason || 'the watch was cancelled by etcd'));
  }

  /** Delivers whole revisions. Events below `next` were delivered on an earlier connection. */
  private deliver(raw: readonly EtcdEvent[]): void {
    const { prefix, sink } = this.dependencies;
    const last = raw.at(-1)!.item.modRevision;
    if (last < this.next) return;
    const events = raw
      .filter((event) => event.item.modRevision >= this.next)
      .map(storeEventOf)
      .filter((event) => this.breadth !== 'all' || event.key.startsWith(prefix));
    this.next = last + 1;
    this.dependencies.cluster.continuity.observe(last);
    const latest = events.at(-1);
    if (latest) {
      this.last = { key: latest.key, revision: latest.revision, isDeletion: latest.type === 'delete' };
      this.reported = latest.revision;
      sink.events(events, latest.revision);
    }
    if (this.reported < last) this.progress(last);
  }

  private progress(revision: Revision): void {
    if (!this.isOpen || revision < this.reported) return;
    this.reported = revision;
    this.next = Math.max(this.next, revision + 1);
    this.isProgressWanted = false;
    this.dependencies.sink.progress(revision);
  }

  /**
   * Repeats the progress request until the sink has its answer. etcd does not answer while the watch catches up or
   * starts in the future, so the store's revision is read as well.
   */
  private async pursueProgress(): Promise<void> {
    const { cluster } = this.dependencies;
    this.isPursuing = true;
    while (this.isOpen && this.isProgressWanted) {
      const isAsked = this.askProgress();
      if (isAsked) await sleep(cluster.options.clock, progressAnswerMs);
      if (!this.isOpen || !this.isProgressWanted) break;
      const revision = await this.dependencies.revision().catch(() => undefined);
      if (revision !== undefined && revision < this.next) {
        this.progress(Math.max(revision, this.reported) as Revision);
      } else if (isAsked) {
        const { connection } = this;
        if (revision !== undefined && connection && ++connection.silentRequests > silentRequestsMax)
          this.lost(connection, new Error('the member sent nothing while the store has later revisions'));
      } else {
        await sleep(cluster.options.clock, progressAnswerMs / 2);
      }
    }
    this.isPursuing = false;
  }

  /** Requests progress. Returns true if etcd will answer. */
  private askProgress(): boolean {
    const { connection } = this;
    if (!connection?.isCreated || this.breadth === 'all') return false;
    if (connection.traits?.hasOrderedProgress) {
      connection.stream?.send({ type: 'progress' });
      return true;
    }
    if (this.breadth === 'prefix') {
      this.breadth = 'all';
      this.disconnect();
      void this.connect();
    }
    return false;
  }
}

/** Ignores errors of the store with this code. */
function unless(code: StorageError['code']): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof StorageError && error.code === code) return undefined;
    throw error;
  };
}
