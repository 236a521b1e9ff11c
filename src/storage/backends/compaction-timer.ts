import type { Revision } from '../../machinery/revision.js';
import { every, type Clock, type Timer } from '../../std/clock.js';

/** The default of kube-apiserver on etcd: a watch or a paged list that pauses for less can continue. */
const defaultHistoryMs = 5 * 60_000;
const defaultCompactionIntervalMs = 5 * 60_000;

interface CompactionOptions {
  readonly clock: Clock;
  readonly historyMs?: number;
  readonly compactionIntervalMs?: number;
  /** Returns the last revision made before that time; undefined if none is kept. */
  target(timeMs: number): Revision | undefined;
  compact(revision: Revision): Promise<void>;
  failed?(error: unknown): void;
}

/** Compacts at an interval everything older than the history to keep. */
export function startCompaction(options: CompactionOptions): Timer {
  const { clock, historyMs = defaultHistoryMs, compactionIntervalMs = defaultCompactionIntervalMs } = options;
  return every(clock, compactionIntervalMs, async () => {
    try {
      const revision = options.target(clock.now() - historyMs);
      if (revision !== undefined) await options.compact(revision);
    } catch (error) {
      options.failed?.(error);
    }
  });
}
