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
import { YieldTimer } from '../std/yield-timer.js';
import { compressedList } from './compressed-list.js';
import { asCompressed, compressed, compressedBytesMin, compressingStream } from './compression.js';

interface ListStreamOptions {
  /** Size of one write to the connection. */
  readonly sliceBytes: number;
  readonly compresses: boolean;
  readonly clock: Clock;
}

/** Maximum time that encoding holds the event loop before it yields. */
export const workSliceMs = 4;

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
  let itemsLength = objects.length > 0 ? -firstSkip : 0;
  for (const object of objects) {
    const bytes = needsSteps(rendering, object)
      ? await bytesInSteps(rendering, object, options.clock)
      : rendering.bytesOf(object);
    itemsLength += separator.length + rendering.itemEnd(bytes) - rendering.itemStart(bytes);
    if (yieldTimer.isDue()) await yieldTimer.yield();
  }
  const head = rendering.head(meta, itemsLength);
  const total = head.length + itemsLength + tail.length;
  const headers = headersFor(request, rendering.mediaType);
  const { sliceBytes } = options;
  if (options.compresses && total > compressedBytesMin) {
    const pieces = compressedList(rendering, { head, tail }, objects, { sliceBytes, yieldTimer });
    return sendCompressed(request, reply, headers, pieces);
  }
  const slices = new Slices(total, sliceBytes);
  const pieces = fill(slices, rendering, [head, tail], objects);

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
  for (const slice of pieces) {
    if (isGone) return;
    if (slices.isDone) endAfterFlush(raw, slice);
    else if (raw.write(slice)) await turn();
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
    const bytes = needsSteps(rendering, object)
      ? await bytesInSteps(rendering, object, clock)
      : rendering.bytesOf(object);
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

/** True if encoding the object may take the time of a turn of the event loop. */
export const needsSteps = (rendering: ListRendering, object: EncodedObject): boolean =>
  object.isLarge && rendering.parses(object);

export async function bytesInSteps(rendering: ListRendering, object: EncodedObject, clock: Clock): Promise<Buffer> {
  const timer = new YieldTimer(clock);
  const parsed = await timer.run(object.parseInSteps());
  if (timer.isDue()) await timer.yield();
  const bytes = rendering.bytesInSteps
    ? await timer.run(rendering.bytesInSteps(object, parsed))
    : rendering.bytesOf(object, parsed);
  if (timer.isDue()) await timer.yield();
  return bytes;
}

/** Copies the list into slices and yields each full one. */
function* fill(
  slices: Slices,
  rendering: ListRendering,
  [head, tail]: readonly [Buffer, Buffer],
  objects: readonly EncodedObject[],
): Generator<Buffer> {
  const { separator, firstSkip } = rendering;
  yield* slices.add(head, 0, head.length);
  for (let i = 0; i < objects.length; i++) {
    const object = objects[i]!;
    const bytes = rendering.bytesOf(object);
    const start = rendering.itemStart(bytes);
    const end = rendering.itemEnd(bytes);
    const skip = i === 0 ? firstSkip : 0;
    if (slices.addItem(separator, skip, bytes, start, end)) continue;
    yield* slices.add(separator, skip, separator.length);
    yield* slices.add(bytes, start, end);
  }
  yield* slices.add(tail, 0, tail.length);
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
  addItem(separator: Buffer, from: number, bytes: Buffer, start: number, end: number): boolean {
    const { slice } = this;
    const length = separator.length - from + end - start;
    if (this.used + length >= slice.length) return false;
    for (let i = from; i < separator.length; i++) slice[this.used++] = separator[i]!;
    this.used += bytes.copy(slice, this.used, start, end);
    return true;
  }

  *add(piece: Buffer, start: number, end: number): Generator<Buffer> {
    for (let at = start; at < end;) {
      const taken = piece.copy(this.slice, this.used, at, end);
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
    return Buffer.allocUnsafeSlow(Math.min(this.left, this.sliceBytes));
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
