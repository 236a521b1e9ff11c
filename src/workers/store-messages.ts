import type { Revision } from '../machinery/revision.js';
import type {
  Compare,
  DeferredValue,
  GetResult,
  KeyValue,
  RangeOptions,
  RangeResult,
  StoreEvent,
  TxnResult,
  WatchOptions,
  Write,
} from '../storage/kv-store.js';
import { deleteEvent, putEvent } from '../storage/store-event.js';
import { UntransformableError } from '../storage/value-transforms.js';
import type { FrameBody } from './frame-reader.js';
import type { FrameWriter } from './frame-writer.js';

// The values of store calls in frames. Each write function has a read function that reads the same values in order.

const present = 1;
const stale = 2;
const unreadable = 4;
const summarized = 8;
/** A ValueReader reads the same value from the store. */
const rereadable = 16;
/** The value is not in the message: a ValueReader reads it. */
const deferred = 32;

/** Stands for a limit or a revision that is not given. */
const none = -1;

const noBytes = Buffer.alloc(0);

const optional = (value: number): number | undefined => (value === none ? undefined : value);

function writeItem(frame: FrameWriter, item: KeyValue | undefined): void {
  if (!item) return void frame.byte(0);
  const { key, value, createRevision, modRevision, summary, isStale, failure } = item;
  const ofValue = item.deferred ? deferred : item.reread ? rereadable : 0;
  frame.byte(present | ofValue | (isStale ? stale : 0) | (failure ? unreadable : 0) | (summary ? summarized : 0));
  frame.number(createRevision).number(modRevision).text(key);
  if (item.deferred) frame.uint(item.deferred.length);
  else frame.data(value);
  if (summary) frame.data(summary);
  if (failure) frame.text(failure.message);
}

/** `read` is that of the ValueReader, if there is one. */
function readItem(body: FrameBody, read?: DeferredValue['read']): KeyValue | undefined {
  const flags = body.byte();
  if ((flags & present) === 0) return undefined;
  const createRevision = body.number() as Revision;
  const modRevision = body.number() as Revision;
  const key = body.text();
  const length = (flags & deferred) === 0 ? undefined : body.uint();
  const value = length === undefined ? body.data() : noBytes;
  const reread = (flags & rereadable) === 0 ? undefined : read;
  const summary = (flags & summarized) === 0 ? undefined : body.data();
  if (length !== undefined) {
    return { key, value, createRevision, modRevision, summary, deferred: { length, read: read! } };
  }
  if ((flags & (stale | unreadable)) === 0) return { key, value, createRevision, modRevision, summary, reread };
  const failure = (flags & unreadable) === 0 ? undefined : new UntransformableError(body.text());
  return { key, value, createRevision, modRevision, summary, isStale: (flags & stale) !== 0, failure };
}

function writeItems(frame: FrameWriter, items: readonly (KeyValue | undefined)[]): void {
  frame.uint(items.length);
  for (const item of items) writeItem(frame, item);
}

function readItems(body: FrameBody, read?: DeferredValue['read']): (KeyValue | undefined)[] {
  return Array.from({ length: body.uint() }, () => readItem(body, read));
}

export function writeGetResult(frame: FrameWriter, { item, revision }: GetResult): void {
  writeItem(frame.number(revision), item);
}

export function readGetResult(body: FrameBody): GetResult {
  const revision = body.number() as Revision;
  return { item: readItem(body), revision };
}

const hasFrom = 1;
const defersValues = 2;
const countsNotAll = 4;

export function writeRangeOptions(frame: FrameWriter, options: RangeOptions): void {
  const { revision, from, limit } = options;
  frame.number(revision ?? none).number(limit ?? none);
  const flags =
    (from === undefined ? 0 : hasFrom) |
    (options.defersValues ? defersValues : 0) |
    (options.countsAll === false ? countsNotAll : 0);
  frame.byte(flags).text(from ?? '');
}

export function readRangeOptions(body: FrameBody): RangeOptions {
  const revision = optional(body.number()) as Revision | undefined;
  const limit = optional(body.number());
  const flags = body.byte();
  const from = body.text();
  return {
    ...(revision !== undefined && { revision }),
    ...(limit !== undefined && { limit }),
    ...((flags & hasFrom) !== 0 && { from }),
    defersValues: (flags & defersValues) !== 0,
    countsAll: (flags & countsNotAll) === 0,
  };
}

export function writeRangeResult(frame: FrameWriter, { items, revision, count }: RangeResult): void {
  writeItems(frame.number(revision).number(count), items);
}

export function readRangeResult(body: FrameBody, read?: DeferredValue['read']): RangeResult {
  const revision = body.number() as Revision;
  const count = body.number();
  return { items: readItems(body, read) as KeyValue[], revision, count };
}

export function writeTransaction(frame: FrameWriter, compares: readonly Compare[], writes: readonly Write[]): void {
  frame.uint(compares.length);
  for (const { key, modRevision } of compares) frame.number(modRevision).text(key);
  frame.uint(writes.length);
  for (const write of writes) {
    if (write.type === 'put')
      frame
        .byte(1)
        .text(write.key)
        .data(write.value)
        .data(write.summarize?.() ?? noBytes);
    else frame.byte(0).text(write.key);
  }
}

export function readTransaction(body: FrameBody): { readonly compares: Compare[]; readonly writes: Write[] } {
  const compares = Array.from({ length: body.uint() }, (): Compare => {
    const modRevision = body.number() as Revision;
    return { modRevision, key: body.text() };
  });
  const writes = Array.from({ length: body.uint() }, (): Write => {
    const isPut = body.byte() === 1;
    const key = body.text();
    if (!isPut) return { type: 'delete', key };
    const value = body.data();
    const summary = body.data();
    return { type: 'put', key, value, ...(summary.length > 0 && { summarize: () => summary }) };
  });
  return { compares, writes };
}

export function writeTxnResult(frame: FrameWriter, result: TxnResult): void {
  frame.byte(result.succeeded ? 1 : 0).number(result.revision);
  if (!result.succeeded) writeItems(frame, result.current);
}

export function readTxnResult(body: FrameBody): TxnResult {
  const succeeded = body.byte() === 1;
  const revision = body.number() as Revision;
  return succeeded ? { succeeded, revision } : { succeeded, revision, current: readItems(body) };
}

export function writeWatchOptions(frame: FrameWriter, { from, withPrevious = false }: WatchOptions): void {
  frame.number(from).byte(withPrevious ? 1 : 0);
}

export function readWatchOptions(body: FrameBody): WatchOptions {
  const from = body.number() as Revision;
  return { from, withPrevious: body.byte() === 1 };
}

export function writeEvents(frame: FrameWriter, events: readonly StoreEvent[], revision: Revision): void {
  frame.number(revision).uint(events.length);
  for (const event of events) {
    writeItem(frame, event.item);
    if (!event.item) frame.number(event.revision).text(event.key);
    writeItem(frame, event.previous);
  }
}

export function readEvents(
  body: FrameBody,
  read?: DeferredValue['read'],
): { readonly events: StoreEvent[]; readonly revision: Revision } {
  const revision = body.number() as Revision;
  const events = Array.from({ length: body.uint() }, (): StoreEvent => {
    const item = readItem(body, read);
    if (item) return putEvent(item, readItem(body));
    const at = body.number() as Revision;
    const key = body.text();
    return deleteEvent(key, at, readItem(body));
  });
  return { events, revision };
}
