import type { Revision } from '../../../machinery/revision.js';
import { sleep, type Timer } from '../../../std/clock.js';
import type { Logger } from '../../../std/logger.js';
import type { StoreEvent, Watch, WatchOptions, WatchSink } from '../../kv-store.js';
import { StorageError } from '../../storage-error.js';
import { jittered, type EtcdCluster } from './etcd-cluster.js';
import type { EtcdEndpoint, WatchStream } from './etcd-endpoint.js';
import { isTransient } from './etcd-errors.js';
import { bytesOfKey, endOfPrefix, storeEventOf, type EtcdEvent, type WatchResponse } from './etcd-messages.js';
import { traitsOf, type EtcdTraits } from './etcd-versions.js';

const progressAnswerMs = 100;
const reconnectDelayMsMax = 5_000;

export interface EtcdWatchParts {
  readonly cluster: EtcdCluster;
  readonly logger: Logger;
  readonly revision: () => Promise<Revision>;
  /** Rejects with 'compacted' when the state as of a revision is forgotten. */
  readonly probe: (revision: Revision) => Promise<unknown>;
  readonly over: (watch: EtcdWatch) => void;
  readonly prefix: string;
  readonly options: WatchOptions;
  readonly sink: WatchSink;
}

/** One life of the connection. What a former one still says is not heard. */
interface Connection {
  readonly endpoint: EtcdEndpoint;
  stream?: WatchStream;
  isCreated: boolean;
  traits?: EtcdTraits;
  /** Of a response that came in fragments. */
  fragments: EtcdEvent[];
}

/**
 * Every watch has a gRPC stream of its own (all of them share one connection), so that a progress answer, which etcd
 * gives for a whole stream, is about this watch alone. `next` is all that must survive a lost stream:
 *
 *   from = 5   events 5, 6 delivered → next = 7   progress 9 → next = 10   stream lost → a new one starts at 10
 *
 * Where an old etcd cannot tell progress rightly (see etcd-versions.ts), a watch that is asked for it is widened to
 * all keys from then on: every revision then shows up on the stream, and what is not under the prefix is progress.
 */
export class EtcdWatch implements Watch {
  private next: number;
  /** The last revision the sink was told of. */
  private told = 0;
  private connection: Connection | undefined;
  private timer: Timer | undefined;
  private failures = 0;
  private isOpen = true;
  private isProgressWanted = false;
  private isPursuing = false;
  private breadth: 'prefix' | 'all' | 'prefixOnly' = 'prefix';

  constructor(private readonly parts: EtcdWatchParts) {
    // etcd takes 0 for "from here on"; to us it is the beginning of all history.
    this.next = Math.max(1, parts.options.from);
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
    this.parts.over(this);
  }

  end(error: Error): void {
    if (!this.isOpen) return;
    this.close();
    this.parts.sink.ended(error);
  }

  private async connect(): Promise<void> {
    const { cluster, prefix, options } = this.parts;
    const { clock, dialTimeoutMs, callTimeoutMs } = cluster.options;
    const connection: Connection = { endpoint: cluster.current, isCreated: false, fragments: [] };
    this.connection = connection;
    try {
      await connection.endpoint.connect(dialTimeoutMs);
      connection.traits = traitsOf(await this.versionOf(connection.endpoint));
      if (!connection.traits.keepsDeletionAtFloor && this.next > 1) await this.parts.probe((this.next - 1) as Revision);
    } catch (error) {
      if (this.connection !== connection) return;
      if (error instanceof StorageError && error.code === 'compacted') return this.end(error);
      if (!(error instanceof StorageError && error.code === 'futureRevision'))
        return this.lost(connection, error as Error);
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
    this.timer = clock.after(callTimeoutMs, () =>
      this.lost(connection, new Error('the watch was not created in time')),
    );
  }

  /** Who may not ask for it is taken to talk to an old one. */
  private async versionOf(endpoint: EtcdEndpoint): Promise<string> {
    const { clock, callTimeoutMs } = this.parts.cluster.options;
    try {
      return await endpoint.version(clock.now() + callTimeoutMs);
    } catch (error) {
      if (isTransient(error)) throw error;
      return '';
    }
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
    const { cluster, logger, prefix } = this.parts;
    const { clock, rng } = cluster.options;
    this.disconnect();
    cluster.leave(connection.endpoint);
    if (this.failures === 0) {
      logger.warn('a watch lost etcd and resumes', {
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
      if (this.failures > 0) this.parts.logger.info('a watch has resumed', { server: connection.endpoint.url });
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
    // Whoever may see only some keys is not refused these because it asked for all.
    if (this.breadth === 'all') this.breadth = 'prefixOnly';
    this.lost(connection, new Error(response.cancelReason || 'the watch was cancelled by etcd'));
  }

  /** Whole revisions; those below `next` were delivered before the connection was. */
  private deliver(raw: readonly EtcdEvent[]): void {
    const { prefix, sink } = this.parts;
    const last = raw.at(-1)!.item.modRevision;
    if (last < this.next) return;
    const events = raw
      .filter((event) => event.item.modRevision >= this.next)
      .map(storeEventOf)
      .filter((event) => this.breadth !== 'all' || keyOf(event).startsWith(prefix));
    this.next = last + 1;
    const latest = events.at(-1);
    if (latest) {
      this.told = latest.type === 'put' ? latest.item.modRevision : latest.modRevision;
      sink.events(events, this.told as Revision);
    }
    if (this.told < last) this.progress(last);
  }

  private progress(revision: Revision): void {
    if (!this.isOpen || revision < this.told) return;
    this.told = revision;
    this.next = Math.max(this.next, revision + 1);
    this.isProgressWanted = false;
    this.parts.sink.progress(revision);
  }

  /**
   * etcd leaves a progress request unanswered while the watch is catching up, or starts in the future; so the store's
   * own revision is looked at too, and the request is made again, until the sink has its answer.
   */
  private async pursueProgress(): Promise<void> {
    const { cluster } = this.parts;
    this.isPursuing = true;
    while (this.isOpen && this.isProgressWanted) {
      const isAsked = this.askProgress();
      if (isAsked) await sleep(cluster.options.clock, progressAnswerMs);
      if (!this.isOpen || !this.isProgressWanted) break;
      const revision = await this.parts.revision().catch(() => undefined);
      if (revision !== undefined && revision < this.next) {
        this.progress(Math.max(revision, this.told) as Revision);
      } else if (!isAsked) {
        await sleep(cluster.options.clock, progressAnswerMs / 2);
      }
    }
    this.isPursuing = false;
  }

  /** Says whether etcd will answer. */
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

function keyOf(event: StoreEvent): string {
  return event.type === 'put' ? event.item.key : event.key;
}
