import type { Revision } from '../../machinery/revision.js';
import type { Clock } from '../../std/clock.js';
import type {
  Compare,
  KvStore,
  RangeOptions,
  ReadOptions,
  CallOptions,
  WatchOptions,
  WatchSink,
  Write,
} from '../kv-store.js';
import { StorageError, type StorageErrorCode } from '../storage-error.js';

type MeasuredOperation = 'get' | 'range' | 'txn' | 'revision' | 'compact';

/** 'conflict' is a transaction whose compares failed; 'error' is any error other than StorageError. */
export type MeasuredOutcome = 'ok' | 'conflict' | StorageErrorCode | 'error';

/** `key` is the first key of the call, or ''. */
type Observe = (operation: MeasuredOperation, durationSeconds: number, outcome: MeasuredOutcome, key: string) => void;

/** Reports duration and outcome of each call. Watches are not measured. */
export class MeasuredStore implements KvStore {
  constructor(
    private readonly store: KvStore,
    private readonly observe: Observe,
    private readonly clock: Clock,
  ) {}

  get(key: string, options?: ReadOptions) {
    return this.measure('get', key, () => this.store.get(key, options));
  }

  range(prefix: string, options?: RangeOptions) {
    return this.measure('range', prefix, () => this.store.range(prefix, options));
  }

  txn(compares: readonly Compare[], writes: readonly Write[], options?: CallOptions) {
    return this.measure(
      'txn',
      writes[0]?.key ?? compares[0]?.key ?? '',
      () => this.store.txn(compares, writes, options),
      (result) => result.succeeded,
    );
  }

  revision(options?: CallOptions) {
    return this.measure('revision', '', () => this.store.revision(options));
  }

  compact(revision: Revision) {
    return this.measure('compact', '', () => this.store.compact(revision));
  }

  watch(prefix: string, options: WatchOptions, sink: WatchSink) {
    return this.store.watch(prefix, options, sink);
  }

  close() {
    return this.store.close();
  }

  private async measure<T>(
    operation: MeasuredOperation,
    key: string,
    call: () => Promise<T>,
    isDone: (result: T) => boolean = () => true,
  ): Promise<T> {
    const begin = this.clock.monotonicMs();
    const tell = (outcome: MeasuredOutcome) =>
      this.observe(operation, (this.clock.monotonicMs() - begin) / 1_000, outcome, key);
    try {
      const result = await call();
      tell(isDone(result) ? 'ok' : 'conflict');
      return result;
    } catch (error) {
      tell(error instanceof StorageError ? error.code : 'error');
      throw error;
    }
  }
}
