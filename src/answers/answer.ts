import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { endAfterFlush } from './end-after-flush.js';

type Raw = ServerResponse | Http2ServerResponse;
export type AnswerHeaders = Record<string, string | number | string[]>;

/** Bound on the Warning headers of a response, since clients reject large heads. */
const warningsLengthMax = 4096;
/** Bound on each warning if all together exceed warningsLengthMax; as in kube-apiserver. */
const cutWarningCharactersMax = 256;
const nothing = Buffer.alloc(0);

/** Returns the headers of every response. Content types have no charset, since some clients compare them as a whole. */
export function headersFor(request: FastifyRequest, contentType: string): AnswerHeaders {
  const { kube } = request;
  const headers: AnswerHeaders = {
    'audit-id': kube.auditId,
    'cache-control': 'no-cache, private',
    'content-type': contentType,
  };
  if (kube.flow) {
    const { uids } = kube.flow.flow;
    headers['x-kubernetes-pf-flowschema-uid'] = uids.schema;
    headers['x-kubernetes-pf-prioritylevel-uid'] = uids.level;
  }
  if (kube.warnings.length > 0) headers['warning'] = warningHeaders(kube.warnings);
  return headers;
}

/** Sends a whole response, bypassing Fastify. HEAD gets the same head without a body. */
export function sendBytes(
  request: FastifyRequest,
  reply: FastifyReply,
  code: number,
  headers: AnswerHeaders,
  body: Buffer,
): void {
  const raw = reply.raw as Raw;
  if (!request.kube.claimAnswer()) return;
  request.kube.begin('write');
  reply.hijack();
  // A 204 response must not have a Content-Length, and that of a 304 response is the length of a 200 (RFC 9110, 8.6).
  if (code !== 204 && code !== 304) headers['content-length'] = body.length;
  request.kube.sentBytes = body.length;
  const answer = { raw, code, headers, body: request.raw.method === 'HEAD' ? undefined : body };
  const recorded = request.kube.audit?.answered(code);
  if (recorded) void recorded.then(() => finish(answer));
  else finish(answer);
}

function finish(answer: Finished): void {
  finished.push(answer);
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(sendScheduled);
}

/** Removes the Content-Type, for responses without a body. */
export function withoutContentType({ 'content-type': _, ...headers }: AnswerHeaders): AnswerHeaders {
  return headers;
}

/** Sends 304: the client has the document already, by its If-None-Match. */
export function sendNotModified(request: FastifyRequest, reply: FastifyReply, headers: AnswerHeaders): void {
  sendBytes(request, reply, 304, withoutContentType(headers), nothing);
}

interface Finished {
  readonly raw: Raw;
  readonly code: number;
  readonly headers: AnswerHeaders;
  readonly body: Buffer | undefined;
}

/**
 * Responses finished in this iteration of the event loop, which are written together at its end. Each write to an idle
 * client wakes it, which costs more than the rest of a read; this way a client with many connections is woken once.
 */
let finished: Finished[] = [];
let isScheduled = false;

function sendScheduled(): void {
  isScheduled = false;
  sendFinished();
}

/** Sends the responses that are finished, before the end of this iteration of the event loop. */
export function sendFinished(): void {
  if (finished.length === 0) return;
  const batch = finished;
  finished = [];
  for (const { raw, code, headers, body } of batch) {
    // The client may have closed the connection.
    if (raw.headersSent || raw.destroyed) continue;
    raw.writeHead(code, headers as never);
    if (body === undefined) raw.end();
    else endAfterFlush(raw, body);
  }
}

/**
 * Returns Warning headers without duplicates. If they exceed the bound, they are truncated and the last ones dropped.
 */
function warningHeaders(texts: readonly string[]): string[] {
  const headers = [...new Set(texts)].map((text) => warningHeader(text));
  if (headers.reduce((sum, { length }) => sum + length, 0) <= warningsLengthMax) return headers;
  const cut: string[] = [];
  let length = 0;
  for (const text of new Set(texts)) {
    const header = warningHeader(
      [...text.slice(0, 2 * cutWarningCharactersMax)].slice(0, cutWarningCharactersMax).join(''),
    );
    length += header.length;
    if (length > warningsLengthMax) break;
    cut.push(header);
  }
  return cut;
}

function warningHeader(text: string): string {
  const quoted = text.replace(/[\\"]/g, '\\$&').replace(/[\x00-\x1f\x7f]/g, ' ');
  // Node writes headers as Latin-1: other characters are passed as UTF-8 bytes, as Go does.
  return `299 - "${Buffer.from(quoted, 'utf8').toString('latin1')}"`;
}
