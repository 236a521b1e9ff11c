import type { Revision } from '../../machinery/revision.js';
import { every, type Clock, type Timer } from '../../std/clock.js';

/** As long as clients of etcd are used to: a watch or a paged list that pauses for less can go on. */
export const defaultHistoryMs = 5 * 60_000;
export const defaultCompactionIntervalMs = 5 * 60_000;

export interface CompactionOptions {
  readonly clock: Clock;
  readonly historyMs?: number;
  readonly compactionIntervalMs?: number;
  /** The last revision made before that time, if any is kept. */
  target(timeMs: number): Revision | undefined;
  compact(revision: Revision): Promise<void>;
  failed?(error: unknown): void;
}

/** Forgets, at every interval, what is older than the history to be kept. */
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
