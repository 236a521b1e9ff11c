import type { Revision } from '../machinery/revision.js';
import type { Cancellation } from '../std/cancellation.js';
import { tracedCall } from '../std/call-trace.js';
import { abortedError, checkSignal } from '../storage/backends/call-rules.js';
import type {
  CallOptions,
  Compare,
  GetResult,
  KvStore,
  RangeOptions,
  RangeResult,
  ReadOptions,
  TxnResult,
  ValueReader,
  Watch,
  WatchOptions,
  WatchSink,
  Write,
} from '../storage/kv-store.js';
import { StorageError } from '../storage/storage-error.js';
import { readError, type Channel, type Write as WriteBody } from './channel.js';
import type { FrameBody } from './frame-reader.js';
import { messageKinds as kinds } from './message-kinds.js';
import {
  readEvents,
  readGetResult,
  readRangeResult,
  readTxnResult,
  writeRangeOptions,
  writeTransaction,
  writeWatchOptions,
} from './store-messages.js';

/** The store of another process, by a channel to its StoreHost. With a ValueReader, the objects of the cache can leave memory. */
export class RemoteStore implements KvStore {
  private readonly sinks = new Map<number, WatchSink>();
  private isClosed = false;

  constructor(
    private readonly channel: Channel,
    private readonly values?: ValueReader,
  ) {
    channel.take(kinds.watchEvents, (body, watch) => {
      const sink = this.sinks.get(watch);
      if (!sink) return;
      const { events, revision } = readEvents(body, values?.read);
      sink.events(events, revision);
    });
    channel.take(kinds.watchProgress, (body, watch) => this.sinks.get(watch)?.progress(body.number() as Revision));
    channel.take(kinds.watchEnded, (body, watch) => this.end(watch, readError(body)));
    channel.onClose((cause) =>
      this.endAll(new StorageError('unavailable', 'the process with the store has ended', { cause })),
    );
  }

  async get(key: string, options?: ReadOptions): Promise<GetResult> {
    const write: WriteBody = (frame) => writeRangeOptions(frame.text(key), options ?? {});
    return readGetResult(await this.call('get', write, options));
  }

  async range(prefix: string, options?: RangeOptions): Promise<RangeResult> {
    const { values } = this;
    const defersValues = values !== undefined && options?.defersValues === true;
    const write: WriteBody = (frame) => writeRangeOptions(frame.text(prefix), { ...options, defersValues });
    return readRangeResult(await this.call('range', write, options), values?.read);
  }

  async txn(compares: readonly Compare[], writes: readonly Write[], options?: CallOptions): Promise<TxnResult> {
    return readTxnResult(await this.call('txn', (frame) => writeTransaction(frame, compares, writes), options));
  }

  async revision(options?: CallOptions): Promise<Revision> {
    return (await this.call('revision', () => undefined, options)).number() as Revision;
  }

  async compact(revision: Revision): Promise<void> {
    await this.call('compact', (frame) => frame.number(revision));
  }

  watch(prefix: string, options: WatchOptions, sink: WatchSink): Watch {
    if (this.isClosed) queueMicrotask(() => sink.ended(closedError()));
    const watch = this.channel.nextCall();
    if (!this.isClosed) {
      this.sinks.set(watch, sink);
      this.channel.send(kinds.watch, watch, (frame) => writeWatchOptions(frame.text(prefix), options));
    }
    return {
      requestProgress: () => {
        if (this.sinks.has(watch)) this.channel.send(kinds.requestProgress, watch);
      },
      close: () => {
        if (this.sinks.delete(watch)) this.channel.send(kinds.closeWatch, watch);
      },
    };
  }

  /** Closes this view of the store, not the store itself. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const watch of this.sinks.keys()) this.channel.send(kinds.closeWatch, watch);
    this.endAll(closedError());
    await this.values?.close();
  }

  private async call(kind: StoreCall, write: WriteBody, options?: CallOptions): Promise<FrameBody> {
    if (this.isClosed) throw closedError();
    checkSignal(options);
    return tracedCall(options?.trace, `store.${kind}`, {}, () =>
      untilAborted(this.channel.call(kinds[kind], write), options?.signal),
    );
  }

  private end(watch: number, error: Error): void {
    const sink = this.sinks.get(watch);
    this.sinks.delete(watch);
    sink?.ended(error);
  }

  private endAll(error: Error): void {
    for (const watch of [...this.sinks.keys()]) this.end(watch, error);
  }
}

type StoreCall = 'get' | 'range' | 'txn' | 'revision' | 'compact';

/** Rejects at once if the caller gives up. A write may be made nevertheless. */
function untilAborted(answer: Promise<FrameBody>, signal: Cancellation | undefined): Promise<FrameBody> {
  if (!signal) return answer;
  return new Promise((resolve, reject) => {
    const abort = () => reject(abortedError(signal));
    signal.addEventListener('abort', abort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

const closedError = () => new StorageError('closed', 'the store was closed');
