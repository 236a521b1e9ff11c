import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { unhurriedEnd } from './end-after-flush.js';

type Raw = ServerResponse | Http2ServerResponse;
export type AnswerHeaders = Record<string, string | number | string[]>;

/** How much of all warnings together is sent; the rest would make clients refuse the head. */
const warningsLengthMax = 4096;
/** Of each of them, when there are too many or too long ones. As in the reference server. */
const cutWarningCharactersMax = 256;

/** What every answer says of itself. Content types go out bare: some clients take `; charset=` for another type. */
export function headersFor(request: FastifyRequest, contentType: string): AnswerHeaders {
  const { kube } = request;
  const headers: AnswerHeaders = {
    'audit-id': kube.auditId,
    'cache-control': 'no-cache, private',
    'content-type': contentType,
  };
  if (kube.warnings.length > 0) headers['warning'] = warningHeaders(kube.warnings);
  return headers;
}

/** Takes the answer out of Fastify's hands and sends it whole. HEAD gets the same head and no body. */
export function sendBytes(
  request: FastifyRequest,
  reply: FastifyReply,
  code: number,
  headers: AnswerHeaders,
  body: Buffer,
): void {
  const raw = reply.raw as Raw;
  if (!request.kube.claimAnswer()) return;
  reply.hijack();
  // An answer that says there is no content has no length either (RFC 9110, 8.6).
  if (code !== 204) headers['content-length'] = body.length;
  request.kube.sentBytes = body.length;
  finished.push({ raw, code, headers, body: request.raw.method === 'HEAD' ? undefined : body });
  if (finished.length === 1) setImmediate(sendFinished);
}

interface Finished {
  readonly raw: Raw;
  readonly code: number;
  readonly headers: AnswerHeaders;
  readonly body: Buffer | undefined;
}

/**
 * Answers that one turn of the event loop has finished go out together at its end. Each write to an idle client wakes
 * it up, which costs more than all the rest of a read; a client with many connections is woken once a turn.
 */
let finished: Finished[] = [];

function sendFinished(): void {
  const batch = finished;
  finished = [];
  for (const { raw, code, headers, body } of batch) {
    // The client may have gone.
    if (raw.headersSent || raw.destroyed) continue;
    raw.writeHead(code, headers as never);
    if (body === undefined) raw.end();
    else unhurriedEnd(raw, body);
  }
}

/** All of them, or, where that is too much, the beginning of as many as there is room for. Each is told once. */
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
  // Header fields carry Latin-1: what else a name may hold is sent as UTF-8 bytes, as Go does.
  return `299 - "${Buffer.from(quoted, 'utf8').toString('latin1')}"`;
}
