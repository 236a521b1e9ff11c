import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { hasBody, type Downstream } from './downstream.js';
import { forwardError, ForwardError } from './forward-error.js';
import type { ForwardTarget } from './forward-target.js';
import { answerHeaders, type AnswerHeaders } from './forwarded-headers.js';
import type { Upstreams } from './upstreams.js';

interface ForwardedRequest {
  readonly target: ForwardTarget;
  readonly method: string;
  /** An escaped path with its query. */
  readonly path: string;
  /** From requestHeaders(). */
  readonly headers: readonly string[];
  /** Changes the head of the answer; returns streams through which the body is sent. Throws ForwardError to refuse it. */
  readonly rewrite?: ((answer: ForwardedAnswer) => readonly Transform[]) | undefined;
  /** True for answers that are not sent: the promise is rejected with RefusedAnswer. */
  readonly refuses?: ((code: number) => boolean) | undefined;
}

/** An answer that `refuses` has kept from the client. */
export class RefusedAnswer extends Error {
  constructor(
    readonly code: number,
    readonly text: string,
    /** The header Location. */
    readonly location: string | undefined,
  ) {
    super(`the server answered with ${code}`);
  }
}

/** As in kube-apiserver. */
const refusedBytesMax = 50_000;

/** The head of an answer before it is sent. */
export interface ForwardedAnswer {
  code: number;
  headers: AnswerHeaders;
}

/** Methods that can be sent again if an idle connection turns out to be closed. */
const repeatable = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Forwards a request with its body, and sends the answer, each as it arrives and no faster than it is read. If the client
 * leaves, the request is aborted; if the server fails after the head of its answer, the answer is cut. Resolves when the
 * answer has been sent or cut. Rejects with ForwardError if there is none to send: the caller answers then.
 */
export async function forwardRequest(
  upstreams: Upstreams,
  downstream: Downstream,
  forwarded: ForwardedRequest,
): Promise<void> {
  await passAnswer(downstream, forwarded, await requestAnswer(upstreams, downstream, forwarded));
}

/**
 * Sends the request, and waits for the head of the answer, whose body the caller reads; `rewrite` is not used. Rejects with
 * ForwardError or RefusedAnswer if there is none.
 */
export async function requestAnswer(
  upstreams: Upstreams,
  downstream: Pick<Downstream, 'request' | 'response'>,
  forwarded: ForwardedRequest,
): Promise<SentRequest> {
  const { request, response } = downstream;
  const withBody = hasBody(request);
  if (response.destroyed) throw new ForwardError('gone', 'the client closed the connection');
  const mayRepeat = !withBody && repeatable.has(forwarded.method);
  let sent: SentRequest;
  try {
    sent = await send(upstreams, downstream, forwarded, withBody);
  } catch (error) {
    if (!mayRepeat || !(error instanceof StaleConnection))
      throw error instanceof StaleConnection ? error.reason : error;
    sent = await send(upstreams, downstream, forwarded, withBody).catch((again: unknown) => {
      throw again instanceof StaleConnection ? again.reason : again;
    });
  }
  const { upstream, answer } = sent;
  const code = answer.statusCode ?? 502;
  if (forwarded.refuses?.(code)) {
    const { location } = answer.headers;
    throw new RefusedAnswer(code, await refusedText(downstream, upstream, answer), location);
  }
  return sent;
}

/** Reads the beginning of an answer, until its end, the limit, or the client leaves. */
function refusedText(
  { response }: Pick<Downstream, 'response'>,
  upstream: ClientRequest,
  answer: IncomingMessage,
): Promise<string> {
  return new Promise((resolve) => {
    const read: Buffer[] = [];
    let length = 0;
    const finish = () => {
      upstream.destroy();
      resolve(Buffer.concat(read).toString('utf8', 0, refusedBytesMax));
    };
    answer.on('data', (bytes: Buffer) => {
      read.push(bytes);
      if ((length += bytes.length) >= refusedBytesMax) finish();
    });
    answer.on('error', () => undefined);
    answer.once('close', finish);
    response.once('close', finish);
  });
}

interface SentRequest {
  readonly upstream: ClientRequest;
  readonly answer: IncomingMessage;
}

/** An idle connection that the server closed before it read the request. */
class StaleConnection extends Error {
  constructor(readonly reason: ForwardError) {
    super(reason.message);
  }
}

/** Sends the request, and waits for the head of the answer. */
function send(
  upstreams: Upstreams,
  { request, response }: Pick<Downstream, 'request' | 'response'>,
  { target, method, path, headers }: ForwardedRequest,
  withBody: boolean,
): Promise<SentRequest> {
  const upstream = upstreams.open(target, { method, path, headers });
  return new Promise((resolve, reject) => {
    let isConnected = false;
    let isSettled = false;
    const left = () => {
      upstream.destroy();
      fail(new ForwardError('gone', 'the client closed the connection'));
    };
    const settle = () => {
      isSettled = true;
      response.off('close', left);
    };
    const fail = (error: unknown) => {
      if (isSettled) return;
      settle();
      if (withBody) request.unpipe(upstream);
      const reason = forwardError(error, target, isConnected);
      reject(upstream.reusedSocket && reason.step === 'answer' ? new StaleConnection(reason) : reason);
    };
    upstream.once('socket', (socket) => {
      isConnected = upstream.reusedSocket;
      // A connection that is used again emits neither, and would keep the listeners.
      if (isConnected) return;
      socket.once(target.scheme === 'https' ? 'secureConnect' : 'connect', () => (isConnected = true));
    });
    upstream.on('error', fail);
    upstream.once('close', () => fail(Object.assign(new Error('EOF'), { code: 'ECONNRESET' })));
    const switched = () => fail(new ForwardError('answer', 'the server switched the protocol without being asked'));
    upstream.once('upgrade', (_answer, socket) => {
      socket.destroy();
      switched();
    });
    upstream.once('response', (answer) => {
      if (isSettled) return void answer.destroy();
      // Without an Upgrade header, Node takes it for an answer. A client would read what follows as another protocol.
      if (answer.statusCode === 101) {
        upstream.destroy();
        return switched();
      }
      settle();
      resolve({ upstream, answer });
    });
    response.once('close', left);
    if (!withBody) return void upstream.end();
    request.once('error', left);
    request.once('aborted', left);
    request.pipe(upstream);
  });
}

/** Sends the answer to the client. */
async function passAnswer(
  downstream: Downstream,
  { method, rewrite }: ForwardedRequest,
  { upstream, answer }: SentRequest,
): Promise<void> {
  const { request, response } = downstream;
  const head: ForwardedAnswer = { code: answer.statusCode ?? 502, headers: answerHeaders(answer) };
  // Without a listener, a failure between here and the first byte would end the process.
  let failure: Error | undefined;
  answer.on('error', (error) => (failure = error));
  const isBodyless = method === 'HEAD' || head.code === 204 || head.code === 304;
  // Checked before the answer is claimed: HTTP/2 of Node has no codes beyond 599.
  if (head.code < 200 || head.code > ('stream' in response ? 599 : 999)) {
    upstream.destroy();
    throw new ForwardError('answer', 'malformed HTTP response');
  }
  let transforms: readonly Transform[];
  try {
    transforms = rewrite?.(head) ?? [];
  } catch (error) {
    upstream.destroy();
    throw error;
  }
  if (!(await downstream.begin(head.code)) || response.destroyed || failure) {
    upstream.destroy();
    if (failure && !response.destroyed) downstream.cut();
    return;
  }
  try {
    response.writeHead(head.code, head.headers as never);
  } catch {
    // Headers that cannot be sent: the caller cannot answer any more.
    upstream.destroy();
    return downstream.cut();
  }
  if (isBodyless) {
    answer.resume();
    await ended(response, () => response.end());
    return;
  }
  // A client that waits for the first event of a watch must see the head.
  if ('flushHeaders' in response) response.flushHeaders();
  // With an unread request body, Node emits no event when the client closes the connection.
  if (!hasBody(request)) request.resume();
  await pass(downstream, upstream, answer, transforms);
}

function pass(
  downstream: Downstream,
  upstream: ClientRequest,
  answer: IncomingMessage,
  transforms: readonly Transform[],
): Promise<void> {
  const { response } = downstream;
  return ended(response, () => {
    const fail = () => {
      upstream.destroy();
      for (const transform of transforms) transform.destroy();
      if (!response.writableFinished && !response.destroyed) downstream.cut();
    };
    let source: NodeJS.ReadableStream = answer;
    for (const transform of transforms) {
      source = source.pipe(transform);
      transform.on('error', fail);
    }
    answer.on('error', fail);
    answer.on('aborted', fail);
    response.on('error', fail);
    response.once('close', () => {
      if (!response.writableFinished) fail();
    });
    source.on('data', (bytes: Buffer) => downstream.sent(bytes.length));
    source.pipe(response);
  });
}

/** Resolves when the response has been sent, or its client has left. */
function ended(response: Downstream['response'], start: () => void): Promise<void> {
  return new Promise((resolve) => {
    response.once('close', resolve);
    response.once('finish', resolve);
    start();
  });
}
