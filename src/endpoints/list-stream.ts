import { once } from 'node:events';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EncodedObject } from '../cache/encoded-object.js';
import { headersFor } from '../hooks/answer.js';
import type { ListMeta, ListRendering } from '../registry/rendering.js';

/**
 * Writes a list from the bytes that the cache holds, in slices: each is joined into one buffer, and the next waits
 * until the connection has taken it and everybody else had a turn.
 */
export async function sendList(
  request: FastifyRequest,
  reply: FastifyReply,
  rendering: ListRendering,
  meta: ListMeta,
  objects: readonly EncodedObject[],
  sliceBytes: number,
): Promise<void> {
  const { raw } = reply;
  const { separator, firstSkip, tail } = rendering;
  let itemsLength = objects.length > 0 ? -firstSkip : 0;
  for (const object of objects) {
    const bytes = rendering.bytesOf(object);
    itemsLength += separator.length + rendering.itemEnd(bytes) - rendering.itemStart(bytes);
  }
  const head = rendering.head(meta, itemsLength);
  const total = head.length + itemsLength + tail.length;

  reply.hijack();
  const headers = headersFor(request, rendering.mediaType);
  headers['content-length'] = total;
  raw.writeHead(200, headers as never);
  request.kube.sentBytes = total;
  if (request.raw.method === 'HEAD') {
    raw.end();
    return;
  }

  let isGone = false;
  request.kube.whenEnded(() => (isGone = true));
  const slices = new Slices(total, sliceBytes);
  for (const slice of fill(slices, rendering, head, objects)) {
    if (isGone) return;
    if (slices.isDone) raw.end(slice);
    else if (raw.write(slice)) await turn();
    else await Promise.race([once(raw, 'drain'), once(raw, 'close')]);
  }
}

/** Fills one slice after the other, and yields each that is full. */
function* fill(
  slices: Slices,
  rendering: ListRendering,
  head: Buffer,
  objects: readonly EncodedObject[],
): Generator<Buffer> {
  const { separator, firstSkip, tail } = rendering;
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

/** A long text cut into buffers of one size; a piece that does not fit goes on in the next one. */
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

  /** An item that fits as a whole, which nearly all do: no generator, no view, one copy. */
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
