import { Writable, type Readable } from 'node:stream';
import type { WebSocket } from 'ws';
import { ApiError } from '../../machinery/api-error.js';
import { requestedSubprotocols, type UpgradeRequest } from '../upgrade-request.js';

const base64Protocol = 'base64.binary.k8s.io';
const protocols = ['', 'binary.k8s.io', base64Protocol];

const normalClosure = 1000;
const internalFailure = 1011;

/** Returns the first subprotocol of the client that is known; '' if it names none. Throws 403 as kube-apiserver. */
export function chooseMessageProtocol(request: UpgradeRequest['request']): string {
  const requested = requestedSubprotocols(request);
  if (requested.length === 0) return '';
  const chosen = requested.find((one) => protocols.includes(one));
  if (chosen !== undefined) return chosen;
  const message = `requested protocol(s) are not supported: [${requested.join(' ')}]; supports [${protocols.join(' ')}]`;
  throw new ApiError({ reason: 'Forbidden', message });
}

/**
 * Sends the bytes of a stream in messages, no faster than the client reads: an empty one first, and base64 texts if the
 * subprotocol says so. What the client sends is ignored. Resolves when the WebSocket has ended; the caller ends the stream.
 */
export async function sendMessages(
  webSocket: WebSocket,
  source: Readable,
  { protocol, sent }: { readonly protocol: string; readonly sent: (bytes: number) => void },
): Promise<void> {
  const isBase64 = protocol === base64Protocol;
  const send = (bytes: Buffer, done: () => void) => {
    if (webSocket.readyState !== 1) return done();
    sent(bytes.length);
    const message = isBase64 ? Buffer.from(bytes.toString('base64')) : bytes;
    webSocket.send(message, { binary: !isBase64, compress: false }, () => done());
  };
  const closed = new Promise<void>((resolve) => webSocket.once('close', resolve));
  send(Buffer.alloc(0), () => undefined);
  const messages = new Writable({
    write: (chunk: Buffer, _encoding, done) => send(chunk, done),
    final: (done) => {
      webSocket.close(normalClosure);
      done();
    },
  });
  // A stream that breaks off would else look complete.
  const fail = () => webSocket.close(internalFailure);
  source.once('error', fail);
  source.once('aborted', fail);
  source.pipe(messages);
  await closed;
}
