import { noRevision, type Revision } from '../machinery/revision.js';
import type { KeyValue, KvStore, StoreEvent, Watch } from '../storage/kv-store.js';
import { readPages } from '../storage/read-pages.js';
import { StorageError } from '../storage/storage-error.js';
import { UntransformableError } from '../storage/value-transforms.js';
import { assert } from '../std/assert.js';
import { every, sleep, type Clock, type Timer } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import { TimerWheel } from '../std/timer-wheel.js';
import { YieldTimer } from '../std/yield-timer.js';
import { ByteHome } from './byte-home.js';
import type { CacheLimits } from './cache-limits.js';
import type { EncodedObject } from './encoded-object.js';
import { Freshness, type WaitOptions } from './freshness.js';
import { HistoryMemory } from './history-memory.js';
import { Inbox } from './inbox.js';
import { RevisionTimeline } from './revision-timeline.js';
import { PumpQueue } from './pump-queue.js';
import { WatchCache, type CacheHost, type WatchCacheOptions } from './watch-cache.js';

export { FreshnessTimeout, type Caller } from './freshness.js';

/** The keys that a load has read, and their number in all once the store was asked for it. */
export interface LoadProgress {
  readonly keys: number;
  readonly keysInAll?: number;
}

interface FeedOptions {
  readonly store: KvStore;
  /** `/registry/` */
  readonly root: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: CacheLimits;
}

/**
 * Follows the store for all caches. Loads everything under the root at one revision, then follows a single watch and
 * passes each event to the cache of its resource:
 *
 *   store ──range at r──> caches                            position = r
 *   store ──watch from r+1──> inbox ──> cache.apply() ...   position = the last revision that is applied everywhere
 *
 * Since one stream feeds all resources, its position can be compared with the revision of the store. That makes reads
 * from memory consistent.
 */
export class Feed {
  private readonly caches = new Map<string, WatchCache>();
  /** The numbers of path segments in resource prefixes, to find the resource of a key. */
  private prefixDepths: readonly number[] = [];
  private lastRouted: WatchCache | undefined;
  private phase: 'idle' | 'loading' | 'following' | 'closed' = 'idle';
  private current = noRevision;
  /** The revision at which the stream begins. */
  private loadedAt = noRevision;
  private watch: Watch | undefined;
  /** Set while the store is not the one that was loaded: what the caches hold is then no state of it. */
  private regression: StorageError | undefined;
  private progress: LoadProgress | undefined;
  private heartbeat: Timer | undefined;
  /** Resources that are being loaded on their own, with the events received meanwhile. */
  private readonly catchingUp = new Map<WatchCache, StoreEvent[]>();
  private readonly stopped = new AbortController();
  private readonly inbox: Inbox;
  private readonly timeline: RevisionTimeline;
  private readonly byteHome: ByteHome;
  private readonly freshness: Freshness;
  private readonly cacheHost: CacheHost;

  constructor(private readonly options: FeedOptions) {
    const { store, clock, logger, limits } = options;
    this.byteHome = new ByteHome(limits, clock);
    this.timeline = new RevisionTimeline(limits.snapshotRetentionMs);
    this.freshness = new Freshness({
      clock,
      wheel: new TimerWheel(clock),
      limits,
      position: () => this.current,
      readRevision: (signal) => store.revision({ signal }),
      requestProgress: () => this.watch?.requestProgress(),
    });
    this.inbox = new Inbox({
      sliceEvents: limits.applySliceEvents,
      apply: (event) => this.apply(event, clock.now()),
      applied: (revision) => this.moveTo(revision),
      failed: (error) => this.restart(error),
    });
    this.cacheHost = {
      store,
      clock,
      logger,
      limits,
      historyMemory: new HistoryMemory(limits.historyBytesOfAllMax),
      byteHome: this.byteHome,
      pumpQueue: new PumpQueue(),
      position: () => this.current,
      isExpired: (revision) => this.timeline.isExpired(revision, clock.now()),
    };
  }

  /** The last revision that all caches reflect. */
  get position(): Revision {
    return this.current;
  }

  /** True if everything is loaded and was confirmed up to date within lagMaxMs. */
  get synced(): boolean {
    return this.phase === 'following' && this.freshness.lagMs <= this.options.limits.lagMaxMs;
  }

  /** The time since the feed was last confirmed to hold everything that the store had acknowledged. */
  get lagMs(): number {
    return this.freshness.lagMs;
  }

  /** Throws 'regressed' if the store lost what the caches hold, so that not even old versions may be served. */
  checkHistory(): void {
    if (this.regression) throw this.regression;
  }

  /** The keys that a running load has read, if any. */
  get loading(): LoadProgress | undefined {
    return this.progress;
  }

  /** True if lists at this revision can be answered. */
  isRetained(revision: Revision): boolean {
    return !this.timeline.isExpired(revision, this.options.clock.now());
  }

  get resources(): Iterable<WatchCache> {
    return this.caches.values();
  }

  /** Adds a resource before or after start(). After start() the cache loads on its own and is then `ready`. */
  addResource(resource: WatchCacheOptions): WatchCache {
    const { prefix } = resource;
    assert(prefix.startsWith(this.options.root) && prefix.endsWith('/'), `${prefix} lies under ${this.options.root}`);
    for (const other of this.caches.keys()) {
      assert(!prefix.startsWith(other) && !other.startsWith(prefix), `${prefix} and ${other} do not overlap`);
    }
    const cache = new WatchCache(resource, this.cacheHost);
    this.caches.set(prefix, cache);
    this.updatePrefixDepths();
    if (this.phase === 'loading' || this.phase === 'following') void this.loadLate(cache);
    return cache;
  }

  removeResource(prefix: string): void {
    const cache = this.caches.get(prefix);
    if (!cache) return;
    this.caches.delete(prefix);
    this.catchingUp.delete(cache);
    this.lastRouted = undefined;
    this.updatePrefixDepths();
    cache.close();
  }

  /** Ends all watches with 410 and drops the history in memory, so that clients list again. */
  expireWatches(): void {
    for (const cache of this.caches.values()) cache.expireWatches();
  }

  /** Resolves when everything is loaded. Retries while the store is unavailable, until aborted or closed. */
  async start(signal?: AbortSignal): Promise<void> {
    assert(this.phase === 'idle', 'a feed is started once');
    const stop = signal ? AbortSignal.any([signal, this.stopped.signal]) : this.stopped.signal;
    await this.retrying(stop, 'could not load the watch cache from the store; retrying', () => this.load(stop));
    const { clock, limits } = this.options;
    this.heartbeat = every(clock, limits.heartbeatMs, async () => {
      for (const cache of this.caches.values()) cache.trimHistory(clock.now());
      this.byteHome.tidy(clock.now());
      await this.consistentRevision({ timeoutMs: limits.heartbeatMs });
    });
  }

  /** Resolves when the caches hold this revision; rejects with FreshnessTimeout. */
  waitFor(revision: Revision, options: WaitOptions): Promise<void> {
    return this.freshness.waitFor(revision, options);
  }

  /** Resolves when the caches hold everything that was acknowledged before the call. */
  consistentRevision(options: WaitOptions): Promise<Revision> {
    return this.freshness.consistentRevision(options);
  }

  async close(): Promise<void> {
    if (this.phase === 'closed') return;
    this.phase = 'closed';
    const reason = new StorageError('closed', 'the server is stopping');
    this.stopped.abort(reason);
    this.heartbeat?.cancel();
    this.stopFollowing();
    this.freshness.close(reason);
    for (const cache of this.caches.values()) cache.close();
  }

  private async retrying(stop: AbortSignal, message: string, task: () => Promise<void>): Promise<void> {
    const { clock, logger, limits } = this.options;
    for (let delayMs = limits.retryDelayMinMs; ; delayMs = Math.min(delayMs * 2, limits.retryDelayMaxMs)) {
      try {
        return await task();
      } catch (error) {
        if (stop.aborted) throw error;
        logger.warn(message, { error, retryInMs: delayMs });
        await sleep(clock, delayMs, stop);
      }
    }
  }

  private async load(stop: AbortSignal): Promise<void> {
    this.phase = 'loading';
    const caches = [...this.caches.values()];
    const loaded = new Map<WatchCache, EncodedObject[]>(caches.map((cache) => [cache, []]));
    const take = (item: KeyValue) => {
      const cache = this.cacheOf(item.key);
      if (cache) loaded.get(cache)?.push(cache.admit(item));
    };
    let revision: Revision;
    try {
      revision = await this.readAll(this.options.root, stop, take, this.progressReport());
    } catch (error) {
      for (const objects of loaded.values()) releaseAll(objects);
      throw error;
    } finally {
      this.progress = undefined;
    }
    for (const [cache, objects] of loaded) {
      this.catchingUp.delete(cache);
      cache.reset(objects, revision);
    }
    this.regression = undefined;
    this.loadedAt = revision;
    this.current = revision;
    this.timeline.advance(revision, this.options.clock.now());
    this.follow();
    this.freshness.confirm();
    this.freshness.positionMoved();
  }

  /** Returns a function that notes the progress of a load, and writes it to the log if the load takes long. */
  private progressReport(): (progress: LoadProgress) => void {
    const { clock, logger, limits } = this.options;
    let reportedMs = clock.monotonicMs();
    return (progress) => {
      this.progress = progress;
      if (clock.monotonicMs() - reportedMs < limits.loadReportMs) return;
      reportedMs = clock.monotonicMs();
      logger.info('loading the watch cache from the store', { ...progress });
    };
  }

  /** Reads every key under the prefix at one revision, and returns the revision. */
  private async readAll(
    prefix: string,
    signal: AbortSignal,
    take: (item: KeyValue) => void,
    progressed?: (progress: LoadProgress) => void,
  ): Promise<Revision> {
    const { store, limits, clock } = this.options;
    let at = noRevision;
    let keys = 0;
    const timer = new YieldTimer(clock);
    const beginMs = clock.monotonicMs();
    const countsAll = () => clock.monotonicMs() - beginMs >= limits.loadCountMs;
    const { loadPageItems: limit, loadPageItemsMax: limitMax } = limits;
    const pages = readPages(store, prefix, { limit, limitMax, defersValues: true, countsAll, signal });
    for await (const { items, revision, remaining } of pages) {
      at = revision;
      keys += items.length;
      progressed?.(remaining === undefined ? { keys } : { keys, keysInAll: keys + remaining });
      for (const item of items) {
        take(item);
        if (timer.isDue()) await timer.yield();
      }
    }
    return at;
  }

  private follow(): void {
    this.phase = 'following';
    const generation = this.inbox.open();
    this.watch = this.options.store.watch(
      this.options.root,
      { from: (this.current + 1) as Revision },
      {
        events: (events, revision) => this.inbox.put(generation, events, revision),
        progress: (revision) => this.inbox.put(generation, [], revision),
        ended: (error) => {
          if (this.inbox.isOpen(generation)) this.restart(error);
        },
      },
    );
  }

  private stopFollowing(): void {
    this.inbox.shut();
    this.watch?.close();
    this.watch = undefined;
  }

  /**
   * Reloads everything after the watch has ended or failed. Until then reads of old versions are served from memory,
   * unless the store lost its history.
   */
  private restart(error: unknown): void {
    if (this.phase !== 'following') return;
    this.options.logger.warn('the watch of the store was interrupted; reloading the watch cache', {
      error,
      position: this.current,
    });
    this.stopFollowing();
    this.phase = 'loading';
    if (error instanceof StorageError && error.code === 'regressed') {
      this.regression = error;
      for (const cache of this.caches.values()) cache.expireWatches();
    }
    const stop = this.stopped.signal;
    this.retrying(stop, 'could not reload the watch cache from the store; retrying', () => this.load(stop)).catch(
      () => undefined,
    );
  }

  private apply(event: StoreEvent, nowMs: number): void {
    assert(event.revision > this.current, `the feed moves forward: ${event.revision} after ${this.current}`);
    const cache = this.cacheOf(event.key);
    if (!cache) return;
    const meanwhile = this.catchingUp.get(cache);
    if (meanwhile) meanwhile.push(event);
    else cache.apply(event, nowMs);
  }

  private moveTo(revision: Revision): void {
    if (revision <= this.current) return;
    this.current = revision;
    this.timeline.advance(revision, this.options.clock.now());
    this.freshness.positionMoved();
  }

  /** Loads a resource that was added after start(): reads its state, then applies the younger events of the stream. */
  private async loadLate(cache: WatchCache): Promise<void> {
    this.catchingUp.set(cache, []);
    const { signal } = this.stopped;
    const attempt = async (): Promise<void> => {
      const objects: EncodedObject[] = [];
      const isWanted = () => this.catchingUp.has(cache);
      let revision: Revision;
      try {
        revision = await this.readAll(cache.prefix, signal, (item) => objects.push(cache.admit(item)));
        if (isWanted())
          await this.waitFor(revision, { caller: { signal }, timeoutMs: this.options.limits.backfillTimeoutMs });
      } catch (error) {
        releaseAll(objects);
        throw error;
      }
      // Removed, or loaded with all others after an interruption.
      if (!isWanted()) return releaseAll(objects);
      // The stream began after the read revision: events in between are missing on both sides.
      if (revision < this.loadedAt) {
        releaseAll(objects);
        return attempt();
      }
      const meanwhile = this.catchingUp.get(cache)!;
      this.catchingUp.delete(cache);
      cache.reset(objects, revision);
      for (const event of meanwhile) {
        if (event.revision > revision) cache.apply(event, this.options.clock.now());
      }
    };
    await this.retrying(signal, `could not load ${cache.prefix} from the store; retrying`, attempt).catch(
      () => undefined,
    );
  }

  /**
   * Returns the cache of the resource to which a key belongs. Prefixes do not overlap, so the last cache is tried
   * first.
   */
  cacheOf(key: string): WatchCache | undefined {
    if (this.lastRouted && key.startsWith(this.lastRouted.prefix)) return this.lastRouted;
    for (const depth of this.prefixDepths) {
      let end = this.options.root.length - 1;
      for (let n = 0; n < depth && end >= 0; n++) end = key.indexOf('/', end + 1);
      if (end < 0) continue;
      const cache = this.caches.get(key.slice(0, end + 1));
      if (cache) return (this.lastRouted = cache);
    }
    return undefined;
  }

  /**
   * Reads objects again that could not be decrypted. Called when keys may have become available. Rejects with the errors
   * of the store.
   */
  async recoverUnreadable(): Promise<void> {
    for (const cache of [...this.caches.values()]) {
      const recovered: EncodedObject[] = [];
      for (const key of [...cache.unreadableKeys]) {
        const known = cache.get(key);
        if (!(known?.corruption instanceof UntransformableError)) continue;
        const { item } = await this.options.store.get(key, { signal: this.stopped.signal });
        if (item?.modRevision !== known.revision) continue;
        const object = cache.decode(item);
        if (!object.corruption) recovered.push(object);
      }
      if (this.phase === 'following' && !cache.isClosed) cache.recover(recovered);
    }
  }

  private updatePrefixDepths(): void {
    const depthOf = (prefix: string) => prefix.slice(this.options.root.length).split('/').length - 1;
    this.prefixDepths = [...new Set(Array.from(this.caches.keys(), depthOf))].sort();
  }
}

function releaseAll(objects: readonly EncodedObject[]): void {
  for (const object of objects) object.release();
}
