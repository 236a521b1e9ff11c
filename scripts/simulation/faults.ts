import type { Clock } from '../../src/std/clock.js';
import type { Rng } from '../../src/std/rng.js';
import type { FaultPlan } from '../../src/storage/decorators/faulty-store.js';
import type { KvStore, Watch, WatchOptions, WatchSink } from '../../src/storage/kv-store.js';
import { StorageError } from '../../src/storage/storage-error.js';
import { pick } from './selection.js';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A fault plan that can be changed during a run. */
export type Faults = Mutable<FaultPlan> & {
  /** One in so many deliveries ends the watch of the store, as compaction does. */
  watchEnd?: { readonly oneIn: number };
};

export const noFaults = (clock: Clock, rng: Rng): Faults => ({ clock, rng });

/** Any number of faults, from none to all. */
export function randomFaults(clock: Clock, rng: Rng): Faults {
  const some = <T>(value: T): T | undefined => (rng.below(2) === 0 ? value : undefined);
  const given = {
    delay: some({ oneIn: pick(rng, [2, 10]), msMax: pick(rng, [5, 200]) }),
    failure: some({ oneIn: pick(rng, [20, 200]) }),
    lostAnswer: some({ oneIn: pick(rng, [10, 100]) }),
    watchCut: some({ oneIn: pick(rng, [10, 200]), msMax: pick(rng, [50, 1500]) }),
    compaction: some({ oneIn: pick(rng, [50, 300]), revisionsKeptMax: pick(rng, [0, 30, 300]) }),
    watchEnd: some({ oneIn: 800 }),
  };
  const present = Object.entries(given).filter(([, value]) => value !== undefined);
  return { clock, rng, ...Object.fromEntries(present) };
}

export function isFaultless({ clock: _clock, rng: _rng, ...faults }: Faults): boolean {
  return Object.keys(faults).length === 0;
}

export function removeFaults(faults: Faults): void {
  for (const fault of ['delay', 'failure', 'lostAnswer', 'watchCut', 'compaction', 'watchEnd'] as const)
    delete faults[fault];
}

/** A store that ends watches as compaction does. */
export class EndingStore implements KvStore {
  readonly get: KvStore['get'];
  readonly range: KvStore['range'];
  readonly txn: KvStore['txn'];
  readonly revision: KvStore['revision'];
  readonly compact: KvStore['compact'];
  readonly close: KvStore['close'];

  constructor(
    private readonly store: KvStore,
    private readonly faults: Faults,
  ) {
    this.get = store.get.bind(store);
    this.range = store.range.bind(store);
    this.txn = store.txn.bind(store);
    this.revision = store.revision.bind(store);
    this.compact = store.compact.bind(store);
    this.close = store.close.bind(store);
  }

  watch(prefix: string, options: WatchOptions, sink: WatchSink): Watch {
    let isOpen = true;
    const watch = this.store.watch(prefix, options, {
      events: (events, revision) => {
        if (!isOpen) return;
        const { watchEnd, rng } = this.faults;
        if (!watchEnd || rng.below(watchEnd.oneIn) > 0) return sink.events(events, revision);
        isOpen = false;
        watch.close();
        sink.ended(new StorageError('compacted', 'the history is gone'));
      },
      progress: (revision) => isOpen && sink.progress(revision),
      ended: (error) => isOpen && sink.ended(error),
    });
    return watch;
  }
}
