import { pipeline } from 'node:stream/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EncodedObject } from '../cache/encoded-object.js';
import { headersFor, sendBytes, type AnswerHeaders } from './answer.js';
import { drained, endAfterFlush } from './end-after-flush.js';
import type { ListMeta } from './common-shapes.js';
import type { ListRendering } from './rendering.js';
import { assert } from '../std/assert.js';
import { LoopYieldTimer } from '../std/loop-yield-timer.js';
import type { Clock } from '../std/clock.js';
import { copyBytes } from '../std/copy-bytes.js';
import { SliceMemory } from './slice-memory.js';
import { compressedList } from './compressed-list.js';
import { encodedItem } from './encoded-item.js';
import { asCompressed, compressed, compressedBytesMin, compressingStream } from './compression.js';

interface ListStreamOptions {
  /** Size of one write to the connection. */
  readonly sliceBytes: number;
  readonly compresses: boolean;
  readonly clock: Clock;
}

/** Maximum time that encoding holds the event loop before it yields. */
export const workSliceMs = 2;

/**
 * Writes a list from the encoded objects of the cache, in slices of sliceBytes: the next slice is written when the
 * connection has taken the last one, after a yield to the event loop. If the rendering keeps encoded objects, all are
 * encoded before the head is sent, which then has a Content-Length; otherwise objects are encoded while sending.
 */
export async function sendList(
  request: FastifyRequest,
  reply: FastifyReply,
  rendering: ListRendering,
  meta: ListMeta,
  objects: readonly EncodedObject[],
  options: ListStreamOptions,
): Promise<void> {
  const yieldTimer = new LoopYieldTimer(options.clock, workSliceMs);
  if (!rendering.isKept) return sendWhileEncoding(request, reply, rendering, meta, objects, options, yieldTimer);
  const { separator, firstSkip } = rendering;
  const tail = rendering.tail(meta);
  const itemLengths = new Float64Array(objects.length);
  let itemsLength = objects.length > 0 ? objects.length * separator.length - firstSkip : 0;
  for (let i = 0; i < objects.length; i++) {
    const object = objects[i]!;
    if (rendering.ownItemStart) {
      itemsLength += itemLengths[i] = object.byteLength - rendering.ownItemStart(object);
    } else {
      const encoded = encodedItem(rendering, object, options.clock);
      const bytes = encoded instanceof Promise ? await encoded : encoded;
      itemsLength += itemLengths[i] = rendering.itemEnd(bytes) - rendering.itemStart(bytes);
    }
    if (yieldTimer.isDue()) await yieldTimer.yield();
  }
  const head = rendering.head(meta, itemsLength);
  const total = head.length + itemsLength + tail.length;
  const headers = headersFor(request, rendering.mediaType);
  const { sliceBytes, clock } = options;
  if (options.compresses && total > compressedBytesMin) {
    const list = { rendering, head, tail, objects, itemLengths };
    return sendCompressed(request, reply, headers, compressedList(list, { sliceBytes, yieldTimer, clock }));
  }

  const { raw } = reply;
  // The deadline may already have answered.
  if (!request.kube.claimAnswer()) return;
  request.kube.begin('write');
  reply.hijack();
  headers['content-length'] = total;
  let isGone = false;
  request.kube.whenEnded(() => (isGone = true));
  const recorded = request.kube.audit?.answered(200);
  if (recorded) await recorded;
  if (isGone) return;
  raw.writeHead(200, headers as never);
  request.kube.sentBytes = total;
  if (request.raw.method === 'HEAD') {
    raw.end();
    return;
  }
  const slices = new Slices(total, sliceBytes);
  for await (const slice of filled(slices, rendering, [head, tail], objects, options, yieldTimer)) {
    if (isGone) return;
    if (slices.isDone) endAfterFlush(raw, slice, () => memory.giveBack(slice));
    else if (written(raw, slice)) await turn();
    else await drained(raw);
  }
}

async function sendWhileEncoding(
  request: FastifyRequest,
  reply: FastifyReply,
  rendering: ListRendering,
  meta: ListMeta,
  objects: readonly EncodedObject[],
  { sliceBytes, compresses, clock }: ListStreamOptions,
  yieldTimer: LoopYieldTimer,
): Promise<void> {
  const slices = encodedSlices(rendering, meta, objects, { sliceBytes, clock }, yieldTimer);
  const whole = (await slices.next()).value;
  assert(whole, 'a list has a head');
  const second = (await slices.next()).value;
  const headers = headersFor(request, rendering.mediaType);
  if (!second) {
    if (!compresses || whole.length <= compressedBytesMin) return sendBytes(request, reply, 200, headers, whole);
    return sendBytes(request, reply, 200, asCompressed(headers), await compressed(whole));
  }
  const all = follow([whole, second], slices);
  if (compresses) return sendCompressed(request, reply, headers, all, compressingStream());
  if (!request.kube.claimAnswer()) return;
  request.kube.begin('write');
  reply.hijack();
  const recorded = request.kube.audit?.answered(200);
  if (recorded) await recorded;
  if (reply.raw.destroyed) return;
  reply.raw.writeHead(200, headers as never);
  if (request.raw.method === 'HEAD') {
    reply.raw.end();
    return;
  }
  await piped(request, all, reply.raw);
}

async function sendCompressed(
  request: FastifyRequest,
  reply: FastifyReply,
  headers: AnswerHeaders,
  pieces: AsyncIterable<Buffer>,
  ...transforms: NodeJS.ReadWriteStream[]
): Promise<void> {
  if (!request.kube.claimAnswer()) return;
  request.kube.begin('write');
  reply.hijack();
  const recorded = request.kube.audit?.answered(200);
  if (recorded) await recorded;
  if (reply.raw.destroyed) return;
  reply.raw.writeHead(200, asCompressed(headers) as never);
  await piped(request, pieces, ...transforms, reply.raw);
}

/** Pipes the list to the connection. A connection closed by the client is not an error. */
async function piped(
  request: FastifyRequest,
  from: AsyncIterable<Buffer>,
  ...to: NodeJS.WritableStream[]
): Promise<void> {
  const last = to.at(-1)! as NodeJS.WritableStream & { readonly destroyed?: boolean };
  const transforms = to.slice(0, -1) as NodeJS.ReadWriteStream[];
  async function* counted(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of source) {
      request.kube.sentBytes += piece.length;
      yield piece;
    }
  }
  try {
    await pipeline([from, ...transforms, counted, last] as never);
  } catch (error) {
    if (!last.destroyed) throw error;
  }
}

async function* follow(first: readonly Buffer[], rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield* first;
  yield* rest;
}

async function* encodedSlices(
  rendering: ListRendering,
  meta: ListMeta,
  objects: readonly EncodedObject[],
  { sliceBytes, clock }: Pick<ListStreamOptions, 'sliceBytes' | 'clock'>,
  yieldTimer: LoopYieldTimer,
): AsyncGenerator<Buffer, undefined> {
  const { separator, firstSkip } = rendering;
  const head = rendering.head(meta, 0);
  const tail = rendering.tail(meta);
  let pieces = [head];
  let length = head.length;
  for (const [index, object] of objects.entries()) {
    const encoded = encodedItem(rendering, object, clock);
    const bytes = encoded instanceof Promise ? await encoded : encoded;
    const item = bytes.subarray(rendering.itemStart(bytes), rendering.itemEnd(bytes));
    const before = index === 0 ? separator.subarray(firstSkip) : separator;
    pieces.push(before, item);
    length += before.length + item.length;
    if (length >= sliceBytes) {
      yield Buffer.concat(pieces, length);
      pieces = [];
      length = 0;
    }
    if (yieldTimer.isDue()) await yieldTimer.yield();
  }
  yield Buffer.concat([...pieces, tail], length + tail.length);
  return undefined;
}

/** Copies the list into slices and yields each full one. Objects that do not keep the rendering are encoded again. */
async function* filled(
  slices: Slices,
  rendering: ListRendering,
  [head, tail]: readonly [Buffer, Buffer],
  objects: readonly EncodedObject[],
  { clock }: Pick<ListStreamOptions, 'clock'>,
  yieldTimer: LoopYieldTimer,
): AsyncGenerator<Buffer, undefined> {
  const { separator, firstSkip } = rendering;
  yield* slices.add(head, 0, head.length);
  for (let i = 0; i < objects.length; i++) {
    const object = objects[i]!;
    const skip = i === 0 ? firstSkip : 0;
    const ownStart = rendering.ownItemStart?.(object);
    if (ownStart === undefined || !slices.addOwnItem(separator, skip, object, ownStart)) {
      const encoded = encodedItem(rendering, object, clock);
      const bytes = encoded instanceof Promise ? await encoded : encoded;
      yield* slices.add(separator, skip, separator.length);
      yield* slices.add(bytes, rendering.itemStart(bytes), rendering.itemEnd(bytes));
    }
    if (yieldTimer.isDue()) await yieldTimer.yield();
  }
  yield* slices.add(tail, 0, tail.length);
  return undefined;
}

/**
 * Buffers of one size that a text of known length is copied into; a piece that does not fit continues in the next one.
 */
class Slices {
  private slice: Buffer;
  private used = 0;

  constructor(
    private left: number,
    private readonly sliceBytes: number,
  ) {
    this.slice = this.next();
  }

  get isDone(): boolean {
    return this.left === 0;
  }

  /** Copies an item that fits into the current slice, without generator or view; returns false if it does not fit. */
  addOwnItem(separator: Buffer, from: number, object: EncodedObject, start: number): boolean {
    const { slice } = this;
    if (this.used + separator.length - from + object.byteLength - start >= slice.length) return false;
    for (let i = from; i < separator.length; i++) slice[this.used++] = separator[i]!;
    this.used += object.copyTo(slice, this.used, start);
    return true;
  }

  *add(piece: Buffer, start: number, end: number): Generator<Buffer> {
    for (let at = start; at < end;) {
      const taken = copyBytes(piece, this.slice, this.used, at, end);
      at += taken;
      this.used += taken;
      if (this.used < this.slice.length) return;
      const full = this.slice;
      this.left -= full.length;
      this.used = 0;
      if (this.left > 0) this.slice = this.next();
      yield full;
      if (this.left === 0) return;
    }
  }

  private next(): Buffer {
    return memory.take(Math.min(this.left, this.sliceBytes));
  }
}

const memory = new SliceMemory();

/** Writes a slice, and keeps its memory once the connection has taken it. Returns false if the connection is full. */
function written(raw: FastifyReply['raw'], slice: Buffer): boolean {
  return raw.write(slice, (error) => {
    if (!error) memory.giveBack(slice);
  });
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
