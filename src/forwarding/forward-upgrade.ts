import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../std/clock.js';
import { IdleTimer } from '../std/idle-timer.js';
import type { UpgradeDownstream } from './downstream.js';
import { forwardError, ForwardError } from './forward-error.js';
import type { ForwardTarget } from './forward-target.js';
import { answerHeaders, type AnswerHeaders } from './forwarded-headers.js';
import type { Upstreams } from './upstreams.js';

interface ForwardedUpgrade {
  readonly target: ForwardTarget;
  readonly method: string;
  /** An escaped path with its query. */
  readonly path: string;
  /** From requestHeaders() with `isUpgrade`. */
  readonly headers: readonly string[];
}

interface TunnelBounds {
  readonly clock: Clock;
  /** Time without a byte in either direction after which the tunnel is closed. */
  readonly idleTimeoutMs: number;
}

/** The answer of a server to an upgrade. */
type UpgradeAnswer =
  | { readonly isUpgraded: true; readonly headers: AnswerHeaders; readonly socket: Duplex; readonly head: Buffer }
  | { readonly isUpgraded: false; readonly code: number; readonly headers: AnswerHeaders; readonly body: Buffer };

/** Bytes of the body of an answer that refuses an upgrade; the rest is not sent. */
const refusalBytesMax = 64 * 1024;
/** As in kube-apiserver. */
const refusalTimeoutMs = 10_000;

/**
 * Forwards a request to switch protocols (SPDY/3.1, WebSocket). If the server agrees, bytes are passed in both directions
 * until one side closes. An answer of 400 and above is sent to the client as it is. Resolves at the end of the tunnel or of
 * the answer; rejects with ForwardError if there is neither: the caller answers then.
 */
export async function forwardUpgrade(
  upstreams: Upstreams,
  downstream: UpgradeDownstream,
  forwarded: ForwardedUpgrade,
  bounds: TunnelBounds,
): Promise<void> {
  const { response } = downstream;
  const gone = new AbortController();
  const left = () => gone.abort();
  response.once('close', left);
  let answer: UpgradeAnswer;
  try {
    if (response.destroyed) left();
    answer = await requestUpgrade(upstreams, forwarded, { clock: bounds.clock, signal: gone.signal });
  } finally {
    response.off('close', left);
  }
  if (!answer.isUpgraded) return refuse(downstream, answer);
  const { socket: upstream, head, headers } = answer;
  const mayBegin = await downstream.begin(101);
  const client = mayBegin ? downstream.switchProtocols(headers) : undefined;
  if (!client) return void upstream.destroy();
  if (head.length > 0) client.write(head);
  if (downstream.head.length > 0) upstream.write(downstream.head);
  await tunnel(client, upstream, downstream, bounds);
}

/** Asks a server to switch protocols. The caller owns the socket of the answer. */
export function requestUpgrade(
  upstreams: Upstreams,
  { target, method, path, headers }: ForwardedUpgrade,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<UpgradeAnswer> {
  if (signal.aborted) return Promise.reject(gone());
  const upstream = upstreams.open(target, { method, path, headers, isUpgrade: true });
  return new Promise((resolve, reject) => {
    let isConnected = false;
    const fail = (error: unknown) => {
      upstream.destroy();
      signal.removeEventListener('abort', abort);
      reject(forwardError(error, target, isConnected));
    };
    const abort = () => fail(gone());
    signal.addEventListener('abort', abort);
    upstream.once('socket', (socket) =>
      socket.once(target.scheme === 'https' ? 'secureConnect' : 'connect', () => (isConnected = true)),
    );
    upstream.on('error', fail);
    upstream.once('close', () => fail(Object.assign(new Error('EOF'), { code: 'ECONNRESET' })));
    upstream.once('upgrade', (answer: IncomingMessage, socket: Duplex, head: Buffer) => {
      signal.removeEventListener('abort', abort);
      // Until the caller listens.
      socket.on('error', () => socket.destroy());
      const kept = { ...answerHeaders(answer), connection: 'Upgrade', upgrade: answer.headers.upgrade ?? '' };
      resolve({ isUpgraded: true, headers: kept, socket, head });
    });
    upstream.once('response', (answer: IncomingMessage) => {
      const code = answer.statusCode ?? 0;
      if (code < 400) return fail(new ForwardError('answer', `invalid upgrade response: status code ${code}`));
      readRefusal(answer, clock, (body) => {
        signal.removeEventListener('abort', abort);
        upstream.destroy();
        resolve({ isUpgraded: false, code, headers: answerHeaders(answer), body });
      });
    });
    upstream.end();
  });
}

const gone = (): ForwardError => new ForwardError('gone', 'the client closed the connection');

/** Reads the body of an answer that refuses the upgrade, as far as it arrives in time. */
function readRefusal(answer: IncomingMessage, clock: Clock, done: (body: Buffer) => void): void {
  const read: Buffer[] = [];
  let length = 0;
  const finish = () => {
    timer.cancel();
    done(Buffer.concat(read).subarray(0, refusalBytesMax));
  };
  const timer = clock.after(refusalTimeoutMs, finish);
  answer.on('data', (bytes: Buffer) => {
    read.push(bytes);
    length += bytes.length;
    if (length >= refusalBytesMax) finish();
  });
  answer.once('end', finish);
  answer.once('error', finish);
}

async function refuse(
  downstream: UpgradeDownstream,
  { code, headers, body }: Extract<UpgradeAnswer, { isUpgraded: false }>,
): Promise<void> {
  const { response } = downstream;
  if (!(await downstream.begin(code)) || response.destroyed) return;
  headers['content-length'] = String(body.length);
  downstream.sent(body.length);
  try {
    response.writeHead(code, headers as never);
  } catch (error) {
    throw new ForwardError('answer', 'malformed HTTP response', false, error);
  }
  response.end(body);
}

/** Passes bytes in both directions, each no faster than they are read. Resolves when both sides are closed. */
function tunnel(
  client: Duplex,
  upstream: Duplex,
  downstream: UpgradeDownstream,
  { clock, idleTimeoutMs }: TunnelBounds,
): Promise<void> {
  return new Promise((resolve) => {
    const close = () => {
      idle.cancel();
      client.destroy();
      upstream.destroy();
      resolve();
    };
    const idle = new IdleTimer(clock, idleTimeoutMs, close);
    upstream.on('data', (bytes: Buffer) => {
      idle.touch();
      downstream.sent(bytes.length);
    });
    client.on('data', () => idle.touch());
    for (const side of [client, upstream]) {
      side.on('error', close);
      side.once('close', close);
    }
    // Sends what was read before an end, then closes both: as in kube-apiserver, one closed half closes the other.
    client.pipe(upstream, { end: false });
    upstream.pipe(client, { end: false });
    upstream.once('end', () => client.end(close));
    client.once('end', () => upstream.end(close));
  });
}
