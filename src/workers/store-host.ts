import type { Revision } from '../machinery/revision.js';
import type { KvStore, StoreEvent, Watch, WatchSink } from '../storage/kv-store.js';
import { StorageError } from '../storage/storage-error.js';
import { writeError, type Channel } from './channel.js';
import { messageKinds as kinds } from './message-kinds.js';
import {
  readRangeOptions,
  readTransaction,
  readWatchOptions,
  writeEvents,
  writeGetResult,
  writeRangeResult,
  writeTxnResult,
} from './store-messages.js';

/** A worker that takes no events for so long is stuck: its watches end, and it reads the store again. */
const waitingBytesMax = 256 * 1024 * 1024;

/** Serves a store to the RemoteStore at the other end of a channel. */
export function hostStore(store: KvStore, channel: Channel): void {
  const watches = new Map<number, Watch>();
  channel.answer(kinds.get, async (body) => {
    const result = await store.get(body.text(), readRangeOptions(body));
    return (frame) => writeGetResult(frame, result);
  });
  channel.answer(kinds.range, async (body) => {
    const result = await store.range(body.text(), readRangeOptions(body));
    return (frame) => writeRangeResult(frame, result);
  });
  channel.answer(kinds.txn, async (body) => {
    const { compares, writes } = readTransaction(body);
    const result = await store.txn(compares, writes);
    return (frame) => writeTxnResult(frame, result);
  });
  channel.answer(kinds.revision, async () => {
    const revision = await store.revision();
    return (frame) => frame.number(revision);
  });
  channel.answer(kinds.compact, async (body) => {
    await store.compact(body.number() as Revision);
    return () => undefined;
  });
  channel.take(kinds.watch, (body, watch) => {
    watches.set(watch, store.watch(body.text(), readWatchOptions(body), sinkOf(channel, watch, watches)));
  });
  channel.take(kinds.requestProgress, (_body, watch) => watches.get(watch)?.requestProgress());
  channel.take(kinds.closeWatch, (_body, watch) => {
    watches.get(watch)?.close();
    watches.delete(watch);
  });
  channel.onClose(() => {
    for (const watch of watches.values()) watch.close();
    watches.clear();
  });
}

function sinkOf(channel: Channel, watch: number, watches: Map<number, Watch>): WatchSink {
  const ended = (error: Error) => {
    watches.delete(watch);
    channel.send(kinds.watchEnded, watch, (frame) => writeError(frame, error));
  };
  return {
    events(events: readonly StoreEvent[], revision: Revision) {
      channel.send(kinds.watchEvents, watch, (frame) => writeEvents(frame, events, revision));
      if (channel.writer.waitingBytes <= waitingBytesMax) return;
      watches.get(watch)?.close();
      ended(new StorageError('unavailable', 'this process takes events of the store too slowly'));
    },
    progress: (revision) => channel.send(kinds.watchProgress, watch, (frame) => frame.number(revision)),
    ended,
  };
}
