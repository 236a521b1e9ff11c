import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeEphemeralPki } from '../certificates/ephemeral-pki.js';
import { encodeJson } from '../codec/json.js';
import type { OpenAnswer } from '../kubeconfig-client/http-client.js';
import type { KubeconfigClient } from '../kubeconfig-client/kubeconfig-client.js';
import { ClientError } from '../kubeconfig-client/client-error.js';
import type { Clock } from '../std/clock.js';
import { contentBytesMax, isOutputPath, protobuf, recordedContent, recordedPath } from './recorded-content.js';
import { requestHeaderName, type ExchangeLine, type RecordedRequest } from './recording-lines.js';
import type { RecordingFile } from './recording-file.js';
import { WatchRecorder } from './watch-recorder.js';

const requestBytesMax = 16 * 1024 * 1024;
/** Long requests, such as those with `timeout`, have a limit of the server's. */
const answerMsMax = 600_000;

const recordedAnswerHeaders = ['content-type', 'warning', 'retry-after', 'allow'];
/** Headers of one connection, and those that the client of the kubeconfig sets. */
const ownRequestHeaders = new Set(
  'host connection keep-alive transfer-encoding content-length te trailer upgrade expect authorization accept-encoding'.split(
    ' ',
  ),
);
const ownAnswerHeaders = new Set(['connection', 'keep-alive', 'transfer-encoding']);

interface RecordingProxy {
  /** Kubeconfig (YAML) of a client whose requests are recorded. */
  readonly kubeconfig: string;
  readonly exchangeCount: number;
  stop(): Promise<void>;
}

/**
 * Starts an HTTPS server on 127.0.0.1 that passes requests on with the credentials of `api` and writes them and their
 * answers to `file`. Only clients with the certificate in its kubeconfig may use it.
 */
export async function startRecordingProxy(
  api: KubeconfigClient,
  file: RecordingFile,
  { clock }: { readonly clock: Clock },
): Promise<RecordingProxy> {
  const pki = await makeEphemeralPki({ clock });
  const { certificate: cert, key } = pki.serving!.current();
  const recorder = new Recorder(api, file, clock);
  const tls = { cert, key, ca: pki.authority.current().pem, requestCert: true, rejectUnauthorized: true };
  const server = createServer(tls, (request, response) => void recorder.handle(request, response));
  server.on('upgrade', (_request, socket) => {
    socket.end('HTTP/1.1 501 Not Implemented\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    kubeconfig: pki.adminKubeconfig(`https://127.0.0.1:${port}`),
    get exchangeCount() {
      return recorder.exchangeCount;
    },
    stop: () => stop(server, recorder),
  };
}

async function stop(server: Server, recorder: Recorder): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
  await recorder.idle();
}

class Recorder {
  exchangeCount = 0;
  private lastId = 0;
  private readonly beginMs: number;
  private readonly running = new Set<Promise<void>>();

  constructor(
    private readonly api: KubeconfigClient,
    private readonly file: RecordingFile,
    private readonly clock: Clock,
  ) {
    this.beginMs = clock.monotonicMs();
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const work = this.pass(request, response).catch((error: unknown) => refuse(response, error));
    this.running.add(work);
    await work;
    this.running.delete(work);
  }

  async idle(): Promise<void> {
    await Promise.all(this.running);
  }

  private readonly sinceBegin = () => Math.round(this.clock.monotonicMs() - this.beginMs);

  private async pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/' } = request;
    const body = await readRequest(request);
    if (!body) {
      refuse(response, new ClientError('TooLarge', `a request of more than ${requestBytesMax} bytes`), 413);
      return;
    }
    const abort = new AbortController();
    response.once('close', () => abort.abort());
    response.on('error', () => abort.abort());
    const headers = requestHeaders(request.headers);
    const options = { method, path, headers, signal: abort.signal, timeoutMs: answerMsMax };
    const answer = await this.api.open(body.length === 0 ? options : { ...options, body });
    try {
      const recorded = recordedRequest({ method, path, headers }, body);
      await this.answer(answer, response, recorded);
    } finally {
      answer.end();
    }
  }

  private async answer({ message }: OpenAnswer, response: ServerResponse, request: RecordedRequest): Promise<void> {
    const id = ++this.lastId;
    const status = message.statusCode ?? 0;
    const headers = recordedHeaders(message.headers);
    const contentType = headers['content-type'] ?? '';
    const head = { id, atMs: this.sinceBegin(), request };
    const write = async (line: ExchangeLine) => {
      this.exchangeCount++;
      await this.file.write(line);
    };
    response.writeHead(status, answerHeaders(message.headers));
    const isWatch = isWatchPath(request.path);
    // Their client waits for each part of the answer.
    if (status === 200 && (isWatch || isOutputPath(request.path))) {
      const isRecorded = isWatch && /[/+]json/.test(contentType);
      const watch = isRecorded ? new WatchRecorder(id, this.file, this.sinceBegin) : undefined;
      const omitted = isWatch ? `a watch as ${contentType}` : 'output of a program';
      await write(
        watch
          ? { ...head, isWatch: true, answer: { status, headers } }
          : { ...head, answer: { status, headers, omitted } },
      );
      response.flushHeaders();
      try {
        for await (const chunk of message as AsyncIterable<Buffer>) {
          // An event is recorded before the client can send a request because of it.
          await watch?.add(chunk);
          await send(response, chunk);
        }
      } finally {
        await watch?.end();
        response.end();
      }
      return;
    }
    let kept: Buffer[] | undefined = [];
    let length = 0;
    let last: Buffer | undefined;
    for await (const chunk of message as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > contentBytesMax) kept = undefined;
      kept?.push(chunk);
      if (last) await send(response, last);
      last = chunk;
    }
    const { content } = kept
      ? recordedContent(Buffer.concat(kept), { contentType, path: request.path })
      : { content: { omitted: `more than ${contentBytesMax} bytes` } };
    // The client gets the end of the answer once it is recorded: its next request comes later in the file.
    await write({ ...head, answer: { status, headers, ...content } });
    response.end(last);
  }
}

async function readRequest(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= requestBytesMax) chunks.push(chunk);
  }
  return length > requestBytesMax ? undefined : Buffer.concat(chunks);
}

function recordedRequest(
  { method, path, headers }: { method: string; path: string; headers: Record<string, string> },
  body: Buffer,
): RecordedRequest {
  const contentType = headers['content-type'] ?? 'application/json';
  const { content, lacksCredential } = recordedContent(body, { contentType, path });
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => requestHeaderName.test(name)));
  if (content.json !== undefined && contentType === protobuf.mediaType) kept['content-type'] = 'application/json';
  const masked = recordedPath(path);
  const why =
    content.omitted ?? (lacksCredential || masked !== path ? 'a token or a certificate was hidden' : undefined);
  const unrepeatable = why === undefined ? {} : { unrepeatable: why };
  return { method, path: masked, headers: kept, ...content, ...unrepeatable };
}

/** Answers are asked for as JSON, which can be compared, if the client accepts it. */
function requestHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || ownRequestHeaders.has(name)) continue;
    const text = Array.isArray(value) ? value.join(', ') : value;
    const types = name === 'accept' ? text.split(',').filter((type) => type.includes('json')) : [];
    passed[name] = types.length > 0 ? types.join(',') : text;
  }
  return passed;
}

function recordedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    recordedAnswerHeaders.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  );
}

function answerHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || ownAnswerHeaders.has(name) ? [] : [[name, value]],
    ),
  );
}

/** True if the query asks for a watch, in one of the forms that Go takes for true, or the path does: `/api/v1/watch/pods`. */
function isWatchPath(path: string): boolean {
  if (/^\/(api|apis\/[^/]+)\/[^/]+\/watch\//.test(path)) return true;
  const watch = new URLSearchParams(path.replace(/^[^?]*/, '')).get('watch');
  return watch !== null && !['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(watch);
}

async function send(response: ServerResponse, chunk: Buffer): Promise<void> {
  if (response.write(chunk) || response.destroyed) return;
  await Promise.race([once(response, 'drain'), once(response, 'close')]);
}

/** Answers with a Status if the head of the answer is not yet sent. */
function refuse(response: ServerResponse, error: unknown, code = 502): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const message = error instanceof Error ? error.message : String(error);
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code };
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(encodeJson(status));
}
