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
  const head = rendering.head(meta);
  const { separator, tail } = rendering;
  let total = head.length + tail.length;
  for (let i = 0; i < objects.length; i++) total += rendering.item(objects[i]!).length + separator.length;
  // The first item has no comma before it.
  if (objects.length > 0) total -= 1;

  reply.hijack();
  const headers = headersFor(request, 'application/json');
  headers['content-length'] = total;
  raw.writeHead(200, headers as never);
  request.kube.sentBytes = total;
  if (request.raw.method === 'HEAD') {
    raw.end();
    return;
  }

  let gone = false;
  raw.once('close', () => (gone = true));
  const pieces = piecesOf(rendering, head, objects);
  let pending: Buffer | undefined = undefined;
  for (let left = total; left > 0 && !gone;) {
    const slice = Buffer.allocUnsafeSlow(Math.min(left, sliceBytes));
    let used = 0;
    while (used < slice.length) {
      const piece: Buffer = pending ?? (pieces.next().value as Buffer);
      const taken = copyInto(slice, used, piece);
      used += taken;
      // A piece that does not fit goes on in the next slice.
      pending = taken < piece.length ? piece.subarray(taken) : undefined;
    }
    left -= used;
    if (left === 0) {
      raw.end(slice);
      return;
    }
    if (!raw.write(slice) && !gone) await Promise.race([once(raw, 'drain'), once(raw, 'close')]);
    else await turn();
  }
}

function* piecesOf(rendering: ListRendering, head: Buffer, objects: readonly EncodedObject[]): Generator<Buffer> {
  const { separator } = rendering;
  yield head;
  for (let i = 0; i < objects.length; i++) {
    yield i === 0 ? separator.subarray(1) : separator;
    yield rendering.item(objects[i]!);
  }
  yield rendering.tail;
}

/** For a few bytes a loop is several times cheaper than a call into Buffer. */
function copyInto(slice: Buffer, at: number, piece: Buffer): number {
  if (piece.length > 8) return piece.copy(slice, at);
  const taken = Math.min(piece.length, slice.length - at);
  for (let i = 0; i < taken; i++) slice[at + i] = piece[i]!;
  return taken;
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
