import { noRevision, type Revision } from '../../machinery/revision.js';
import { every, type Clock, type Timer } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import type { KvStore } from '../kv-store.js';
import { StorageError } from '../storage-error.js';

/** kube-apiserver's key, with its meaning, so that its servers and ours may share a store. Outside of /registry. */
export const compactionKey = 'compact_rev_key';
export const defaultCompactionIntervalMs = 5 * 60_000;

export interface CompactionLoopOptions {
  readonly store: KvStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** 0 switches it off. */
  readonly intervalMs?: number;
}

/**
 * Forgets history that is older than one interval, once for all servers that share the store. At each turn a server
 * bids: it writes the key if nobody did since its last turn. Who could, compacts to what was current at that last
 * turn, one interval ago; who could not, begins to wait anew:
 *
 *   minute  5  A's first turn: there is nothing to compact to yet; it notes revision 10
 *           7  B's first turn: it loses, as A has written; it notes 30
 *          10  A wins, compacts to 10, notes 70
 *          12  B loses again, notes 90                       … and wins when A has been gone for an interval
 */
export class CompactionLoop {
  private timer: Timer | undefined;
  private stopping = new AbortController();
  /** The mod-revision of the key when we last saw it. */
  private seen: Revision = noRevision;
  /** What was current at our last turn. */
  private current: Revision = noRevision;

  constructor(private readonly options: CompactionLoopOptions) {}

  start(): void {
    const { clock, intervalMs = defaultCompactionIntervalMs } = this.options;
    if (intervalMs > 0) this.timer ??= every(clock, intervalMs, async () => void (await this.turn()));
  }

  stop(): void {
    this.timer?.cancel();
    this.stopping.abort(new Error('the server stops'));
  }

  /** Says whether it has compacted. Never rejects: what fails is tried again an interval later. */
  async turn(): Promise<boolean> {
    const { store, logger } = this.options;
    const target = this.current;
    try {
      if (!(await this.bid(target)) || target === noRevision) return false;
      await store.compact(target);
      logger.info('compacted the store', { revision: target });
      return true;
    } catch (error) {
      const isOurEnd = this.stopping.signal.aborted || (error instanceof StorageError && error.code === 'closed');
      if (!isOurEnd) logger.warn('the store was not compacted', { revision: target, error: (error as Error).message });
      return false;
    }
  }

  private async bid(target: Revision): Promise<boolean> {
    const result = await this.options.store.txn(
      [{ key: compactionKey, modRevision: this.seen }],
      [{ type: 'put', key: compactionKey, value: Buffer.from(String(target)) }],
      { signal: this.stopping.signal },
    );
    this.seen = result.succeeded ? result.revision : (result.current[0]?.modRevision ?? noRevision);
    this.current = result.revision;
    return result.succeeded;
  }
}
