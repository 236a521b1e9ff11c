import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

type Done = (error?: Error | null) => void;
type Chunks = Parameters<NonNullable<Duplex['_writev']>>[0];

/**
 * Drops what a socket can no longer send. Node otherwise destroys the socket at the first write that fails, with all that it has
 * received but not yet read: the last words of a peer that closed the connection while its input was still being sent. The end
 * of the connection is noticed by reading.
 */
export function surviveFailedWrites(socket: Duplex): void {
  if (!(socket instanceof Socket)) return;
  const one = socket._write.bind(socket);
  socket._write = (chunk: unknown, encoding: BufferEncoding, done: Done) => one(chunk, encoding, () => done());
  const many = socket._writev?.bind(socket);
  if (many) socket._writev = (chunks: Chunks, done: Done) => many(chunks, () => done());
}
