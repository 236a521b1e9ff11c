import type { Revision } from '../../machinery/revision.js';
import { every, type Clock, type Timer } from '../../std/clock.js';

/** The default of kube-apiserver on etcd: a watch or a paged list that pauses for less can continue. */
const defaultHistoryMs = 5 * 60_000;
const compactionIntervalMsMax = 5 * 60_000;

interface CompactionOptions {
  readonly clock: Clock;
  /** Minimum age of compacted history; 0 keeps all of it. Default: 5 minutes. */
  readonly historyMs?: number;
  /** Default: historyMs, at most 5 minutes. */
  readonly compactionIntervalMs?: number;
  /** Returns the last revision made before that time; undefined if none is kept. */
  target(timeMs: number): Revision | undefined;
  compact(revision: Revision): Promise<void>;
  failed?(error: unknown): void;
}

/** Compacts at an interval everything older than the history to keep. Returns undefined if all of it is kept. */
export function startCompaction(options: CompactionOptions): Timer | undefined {
  const { clock, historyMs = defaultHistoryMs } = options;
  if (historyMs === 0) return undefined;
  const { compactionIntervalMs = Math.min(historyMs, compactionIntervalMsMax) } = options;
  return every(clock, compactionIntervalMs, async () => {
    try {
      const revision = options.target(clock.now() - historyMs);
      if (revision !== undefined) await options.compact(revision);
    } catch (error) {
      options.failed?.(error);
    }
  });
}
