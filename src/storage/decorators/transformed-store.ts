import type { Revision } from '../../machinery/revision.js';
import type { Clock } from '../../std/clock.js';
import { isPromise } from '../../std/is-promise.js';
import { YieldTimer } from '../../std/yield-timer.js';
import type {
  CallOptions,
  Compare,
  GetResult,
  KeyValue,
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
import { deleteEvent, putEvent } from '../store-event.js';
import type { TransformedValue, ValueTransformer, ValueTransforms } from '../value-transforms.js';

/**
 * Converts values on their way to and from a store: encryption at rest. Keys without a transformer pass through. A value
 * that cannot be converted is delivered as stored, with its failure.
 */
export class TransformedStore implements KvStore {
  private readonly writes = new RecentWrites();

  constructor(
    private readonly store: KvStore,
    private readonly transforms: ValueTransforms,
    private readonly clock: Clock,
  ) {}

  get(key: string, options?: ReadOptions): Promise<GetResult> {
    const result = this.store.get(key, options);
    return this.transforms.of(key) ? result.then((found) => this.readResult(found)) : result;
  }

  async range(prefix: string, options?: RangeOptions): Promise<RangeResult> {
    const result = await this.store.range(prefix, options);
    const items = mapLazily(result.items, this.readItem, this.clock);
    if (isPromise(items)) return { ...result, items: await items };
    return items === result.items ? result : { ...result, items };
  }

  txn(compares: readonly Compare[], writes: readonly Write[], options?: CallOptions): Promise<TxnResult> {
    const isPlain = (one: { readonly key: string }) => this.transforms.of(one.key) === undefined;
    if (compares.every(isPlain) && writes.every(isPlain)) return this.store.txn(compares, writes, options);
    return this.transformedTxn(compares, writes, options);
  }

  watch(prefix: string, options: WatchOptions, sink: WatchSink): Watch {
    const relay = new OrderedSink(sink, (events) => mapLazily(events, this.readEvent, this.clock));
    const watch = this.store.watch(prefix, options, relay);
    return {
      requestProgress: () => watch.requestProgress(),
      close() {
        relay.close();
        watch.close();
      },
    };
  }

  revision(options?: CallOptions): Promise<Revision> {
    return this.store.revision(options);
  }

  compact(revision: Revision): Promise<void> {
    return this.store.compact(revision);
  }

  close(): Promise<void> {
    return this.store.close();
  }

  private async transformedTxn(
    compares: readonly Compare[],
    writes: readonly Write[],
    options: CallOptions | undefined,
  ): Promise<TxnResult> {
    const converted: Write[] = [];
    for (const write of writes) {
      const transformer = write.type === 'put' ? this.transforms.of(write.key) : undefined;
      if (write.type === 'delete' || !transformer) converted.push(write);
      // Without the summary, which would be readable.
      else converted.push({ type: 'put', key: write.key, value: await this.written(write, transformer) });
    }
    const result = await this.store.txn(compares, converted, options);
    if (result.succeeded) return result;
    const current: (KeyValue | undefined)[] = [];
    for (const item of result.current) current.push(item && (await this.readItem(item)));
    return { ...result, current };
  }

  private async written({ key, value }: Put, transformer: ValueTransformer): Promise<Buffer> {
    const stored = await transformer.toStorage(value, key);
    this.writes.add(key, stored, value);
    return stored;
  }

  private async readResult(result: GetResult): Promise<GetResult> {
    const { item } = result;
    return item ? { ...result, item: await this.readItem(item) } : result;
  }

  private readonly readItem = (item: KeyValue): KeyValue | Promise<KeyValue> => {
    const transformer = this.transforms.of(item.key);
    if (!transformer) return item;
    const { key, modRevision, deferred } = item;
    return read(deferred ? { ...item, value: deferred.read(key, modRevision) } : item, transformer);
  };

  private readonly readEvent = (event: StoreEvent): StoreEvent | Promise<StoreEvent> => {
    const transformer = this.transforms.of(event.key);
    if (!transformer) return event;
    const item = event.item && (this.writes.take(event.item) ?? read(event.item, transformer));
    const previous = event.previous && read(event.previous, transformer);
    if (!isPromise(item) && !isPromise(previous)) return eventOf(event, item, previous);
    return Promise.all([item, previous]).then(([nextItem, nextPrevious]) => eventOf(event, nextItem, nextPrevious));
  };
}

function read(item: KeyValue, transformer: ValueTransformer): KeyValue | Promise<KeyValue> {
  const value = transformer.fromStorage(item.value, item.key);
  return isPromise(value) ? value.then((found) => itemOf(item, found)) : itemOf(item, value);
}

function itemOf(
  { key, createRevision, modRevision }: KeyValue,
  { value, isStale, failure }: TransformedValue,
): KeyValue {
  return { key, value, createRevision, modRevision, isStale, failure };
}

function eventOf(event: StoreEvent, item: KeyValue | undefined, previous: KeyValue | undefined): StoreEvent {
  return item ? putEvent(item, previous) : deleteEvent(event.key, event.revision, previous);
}

/**
 * Applies a function to all items, in order. Returns the same array if no item changes, and a promise only if the function
 * returns one or the work takes longer than a slice of the event loop.
 */
function mapLazily<T extends object>(
  items: readonly T[],
  change: (item: T) => T | Promise<T>,
  clock: Clock,
): readonly T[] | Promise<readonly T[]> {
  let changedItems: T[] | undefined;
  let timer: YieldTimer | undefined;
  for (let at = 0; at < items.length; at++) {
    const item = items[at]!;
    const changed = change(item);
    if (isPromise(changed)) return mapRest(items, change, changedItems ?? items.slice(0, at), changed, clock);
    if (changed !== item) changedItems ??= items.slice(0, at);
    if (!changedItems) continue;
    changedItems.push(changed);
    timer ??= new YieldTimer(clock);
    if (timer.isDue() && at + 1 < items.length) {
      return timer.yield().then(() => mapRest(items, change, changedItems!, change(items[at + 1]!), clock));
    }
  }
  return changedItems ?? items;
}

async function mapRest<T extends object>(
  items: readonly T[],
  change: (item: T) => T | Promise<T>,
  done: T[],
  next: T | Promise<T>,
  clock: Clock,
): Promise<readonly T[]> {
  done.push(await next);
  const timer = new YieldTimer(clock);
  while (done.length < items.length) {
    const changed = change(items[done.length]!);
    done.push(isPromise(changed) ? await changed : changed);
    if (timer.isDue()) await timer.yield();
  }
  return done;
}

type Put = Extract<Write, { type: 'put' }>;

const writesMax = 256;
const writesBytesMax = 4 * 1024 * 1024;

/** The last values that this process has converted, until their events arrive, which then need not be converted back. */
class RecentWrites {
  private readonly byKey = new Map<string, { readonly stored: Buffer; readonly value: Uint8Array }>();
  private bytes = 0;

  add(key: string, stored: Buffer, value: Uint8Array): void {
    this.drop(key);
    this.byKey.set(key, { stored, value });
    this.bytes += stored.length;
    for (const oldest of this.byKey.keys()) {
      if (this.byKey.size <= writesMax && this.bytes <= writesBytesMax) return;
      this.drop(oldest);
    }
  }

  /** Returns the item with the value before the conversion, if the stored bytes are equal. */
  take(item: KeyValue): KeyValue | undefined {
    const { key } = item;
    const own = this.byKey.get(key);
    if (!own?.stored.equals(item.value)) return undefined;
    this.drop(key);
    const value = Buffer.from(own.value.buffer, own.value.byteOffset, own.value.byteLength);
    return itemOf(item, { value, isStale: false });
  }

  private drop(key: string): void {
    this.bytes -= this.byKey.get(key)?.stored.length ?? 0;
    this.byKey.delete(key);
  }
}

type Events = readonly StoreEvent[];

/**
 * Passes the calls of a watch on in their order. While one delivery waits for another process, all later calls wait behind
 * it; without such a wait, calls pass through at once.
 */
class OrderedSink implements WatchSink {
  private readonly waiting: (() => void | Promise<void>)[] = [];
  private isBusy = false;
  private isClosed = false;

  constructor(
    private readonly sink: WatchSink,
    private readonly transform: (events: Events) => Events | Promise<Events>,
  ) {}

  events(events: Events, revision: Revision): void {
    if (this.isBusy) return void this.waiting.push(() => this.deliver(events, revision));
    const waits = this.deliver(events, revision);
    if (waits) void this.drain(waits);
  }

  progress(revision: Revision): void {
    this.inOrder(() => this.sink.progress(revision));
  }

  ended(error: Error): void {
    this.inOrder(() => this.sink.ended(error));
  }

  close(): void {
    this.isClosed = true;
    this.waiting.length = 0;
  }

  private deliver(events: Events, revision: Revision): void | Promise<void> {
    if (this.isClosed) return;
    const converted = this.transform(events);
    if (!isPromise(converted)) return this.sink.events(converted, revision);
    return converted.then((ready) => {
      if (!this.isClosed) this.sink.events(ready, revision);
    });
  }

  private inOrder(step: () => void): void {
    if (this.isBusy) this.waiting.push(step);
    else step();
  }

  private async drain(first: Promise<void>): Promise<void> {
    this.isBusy = true;
    try {
      await first;
      for (let at = 0; at < this.waiting.length; at++) {
        await this.waiting[at]!();
        // Drops what is done now and then: a long wait may have collected thousands of calls.
        if (at >= doneKeptMax) at -= this.waiting.splice(0, at + 1).length;
      }
      this.waiting.length = 0;
      this.isBusy = false;
    } catch (error) {
      // isBusy stays true: nothing follows the end.
      const isClosed = this.isClosed;
      this.close();
      if (!isClosed) this.sink.ended(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

const doneKeptMax = 1_000;
