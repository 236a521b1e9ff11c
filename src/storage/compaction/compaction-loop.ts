import { noRevision, type Revision } from '../../machinery/revision.js';
import { every, type Clock, type Timer } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';
import type { KvStore } from '../kv-store.js';
import { StorageError } from '../storage-error.js';

/** The key and value format of kube-apiserver, so that both servers may share a store. Outside of /registry. */
export const compactionKey = 'compact_rev_key';
const defaultCompactionIntervalMs = 5 * 60_000;

interface CompactionLoopOptions {
  readonly store: KvStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** 0 disables compaction. */
  readonly intervalMs?: number;
}

/**
 * Compacts history older than one interval, once for all servers that share the store. In each round a server tries to
 * write the key if nobody has written it since its last round. The winner compacts to the revision of its last round,
 * one interval ago; the others wait for another interval:
 *
 *   minute  5  A's first round: nothing to compact to yet; it notes revision 10
 *           7  B's first round: it loses, since A has written; it notes 30
 *          10  A wins, compacts to 10, notes 70
 *          12  B loses again, notes 90                       … and wins when A has been gone for an interval
 */
export class CompactionLoop {
  private timer: Timer | undefined;
  private stopping = new AbortController();
  /** The mod-revision of the key when it was last read. */
  private seen: Revision = noRevision;
  /** The store's revision at the last round. */
  private current: Revision = noRevision;

  constructor(private readonly options: CompactionLoopOptions) {}

  start(): void {
    const { clock, intervalMs = defaultCompactionIntervalMs } = this.options;
    if (intervalMs > 0) this.timer ??= every(clock, intervalMs, async () => void (await this.runRound()));
  }

  stop(): void {
    this.timer?.cancel();
    this.stopping.abort(new Error('the server stops'));
  }

  /** Runs one round. Returns true if it has compacted. Never rejects: errors are retried in the next round. */
  async runRound(): Promise<boolean> {
    const { store, logger } = this.options;
    const target = this.current;
    try {
      if (!(await this.bid(target)) || target === noRevision) return false;
      await store.compact(target);
      logger.info('compacted the store', { revision: target });
      return true;
    } catch (error) {
      const isOurEnd = this.stopping.signal.aborted || (error instanceof StorageError && error.code === 'closed');
      if (!isOurEnd)
        logger.warn('could not compact the store; trying again after the next interval', {
          revision: target,
          error: (error as Error).message,
        });
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
