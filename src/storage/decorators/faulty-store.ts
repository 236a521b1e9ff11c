import { revisionOf, type Revision } from '../../machinery/revision.js';
import { sleep, type Clock } from '../../std/clock.js';
import type { Rng } from '../../std/rng.js';
import { abortedError } from '../backends/call-rules.js';
import type {
  CallOptions,
  Compare,
  GetResult,
  KvStore,
  RangeOptions,
  RangeResult,
  ReadOptions,
  StoreEvent,
  TxnResult,
  Watch,
  WatchOptions,
  WatchSink,
  Write,
} from '../kv-store.js';
import { StorageError } from '../storage-error.js';

/** The faults to inject: each affects one in `oneIn` calls or deliveries. Absent faults never happen. */
export interface FaultPlan {
  readonly clock: Clock;
  /** Seeded, for reproducible runs. */
  readonly rng: Rng;
  /** Delays a call. */
  readonly delay?: { readonly oneIn: number; readonly msMax: number };
  /** Rejects a call with 'unavailable' without making it. */
  readonly failure?: { readonly oneIn: number };
  /** Makes a transaction, but rejects with 'outcomeUnknown'. */
  readonly lostAnswer?: { readonly oneIn: number };
  /** Interrupts a watch: its events are delivered together at the end. None is lost. */
  readonly watchCut?: { readonly oneIn: number; readonly msMax: number };
  /** Compacts history up to a random revision at or before the last transaction. */
  readonly compaction?: { readonly oneIn: number; readonly revisionsKeptMax: number };
}

/** A store with all faults that the contract permits. */
export class FaultyStore implements KvStore {
  private readonly cuttable = new Set<CuttableSink>();

  constructor(
    private readonly store: KvStore,
    private readonly plan: FaultPlan,
  ) {}

  async get(key: string, options?: ReadOptions): Promise<GetResult> {
    await this.disturb(options);
    return this.store.get(key, options);
  }

  async range(prefix: string, options?: RangeOptions): Promise<RangeResult> {
    await this.disturb(options);
    return this.store.range(prefix, options);
  }

  async txn(compares: readonly Compare[], writes: readonly Write[], options?: CallOptions): Promise<TxnResult> {
    await this.disturb(options);
    const result = await this.store.txn(compares, writes, options);
    const { compaction } = this.plan;
    if (this.happens(compaction)) {
      const kept = this.plan.rng.below(compaction.revisionsKeptMax + 1);
      await this.store.compact(revisionOf(Math.max(0, result.revision - kept)));
    }
    if (this.happens(this.plan.lostAnswer)) throw new StorageError('outcomeUnknown', 'the answer was lost');
    return result;
  }

  watch(prefix: string, options: WatchOptions, sink: WatchSink): Watch {
    const { clock, rng, watchCut } = this.plan;
    const cutMs = () => (this.happens(watchCut) ? rng.below(watchCut.msMax + 1) : undefined);
    const cuttable: CuttableSink = new CuttableSink(sink, { clock, cutMs, left: () => this.cuttable.delete(cuttable) });
    this.cuttable.add(cuttable);
    const watch = this.store.watch(prefix, options, cuttable);
    return {
      requestProgress: () => watch.requestProgress(),
      close: () => {
        cuttable.close();
        watch.close();
      },
    };
  }

  async revision(options?: CallOptions): Promise<Revision> {
    await this.disturb(options);
    return this.store.revision(options);
  }

  async compact(revision: Revision): Promise<void> {
    await this.disturb();
    return this.store.compact(revision);
  }

  close(): Promise<void> {
    return this.store.close();
  }

  /** Ends all interruptions of watches. */
  heal(): void {
    for (const sink of this.cuttable) sink.resume();
  }

  private async disturb(options?: CallOptions): Promise<void> {
    const { clock, rng, delay, failure } = this.plan;
    const signal = options?.signal;
    if (this.happens(delay)) {
      await sleep(clock, rng.below(delay.msMax + 1), signal).catch(() => {
        throw abortedError(signal!);
      });
    }
    if (this.happens(failure)) throw new StorageError('unavailable', 'the store could not be reached');
  }

  private happens<T extends { readonly oneIn: number }>(fault: T | undefined): fault is T {
    return fault !== undefined && this.plan.rng.below(fault.oneIn) === 0;
  }
}

/** Passes calls on to the sink. While interrupted, it keeps them for the end of the interruption. */
class CuttableSink implements WatchSink {
  private isOpen = true;
  private isCut = false;
  private kept: StoreEvent[] = [];
  private keptRevision: Revision | undefined;

  constructor(
    private readonly sink: WatchSink,
    private readonly options: { clock: Clock; cutMs: () => number | undefined; left: () => void },
  ) {}

  events(events: readonly StoreEvent[], revision: Revision): void {
    if (!this.isOpen) return;
    if (!this.isCut) this.maybeCut();
    if (!this.isCut) return this.sink.events(events, revision);
    this.kept.push(...events);
    this.keptRevision = revision;
  }

  progress(revision: Revision): void {
    if (!this.isOpen) return;
    if (this.isCut) this.keptRevision = revision;
    else this.sink.progress(revision);
  }

  ended(error: Error): void {
    this.resume();
    if (!this.isOpen) return;
    this.close();
    this.sink.ended(error);
  }

  resume(): void {
    if (!this.isCut) return;
    this.isCut = false;
    const { kept, keptRevision } = this;
    this.kept = [];
    this.keptRevision = undefined;
    if (!this.isOpen || keptRevision === undefined) return;
    if (kept.length > 0) this.sink.events(kept, keptRevision);
    else this.sink.progress(keptRevision);
  }

  close(): void {
    this.isOpen = false;
    this.options.left();
  }

  private maybeCut(): void {
    const ms = this.options.cutMs();
    if (ms === undefined) return;
    this.isCut = true;
    this.options.clock.after(ms, () => this.resume());
  }
}
