import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { json } from '../codec/encodings.js';
import { ApiError } from '../machinery/api-error.js';

/**
 * Answers bytes that the parser cannot read as HTTP with a Status, and closes the connection, since the beginning of
 * the next request is unknown.
 */
export function refuseUnreadable(error: Error & { code?: string }, socket: Socket): void {
  // No Status for a connection that was reset, nor inside a response, where it would become part of the body.
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket) || isUnused(error, socket)) {
    socket.destroy();
    return;
  }
  const { code, message } = verdictOf(error.code);
  const body = json.encode(new ApiError({ reason: 'BadRequest', code, message }).toStatus(), { pretty: false });
  const head = [
    `HTTP/1.1 ${code} ${STATUS_CODES[code]}`,
    'cache-control: no-cache, private',
    'connection: close',
    `content-type: ${json.mediaType}`,
    `content-length: ${body.length}`,
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]), () => socket.destroy());
}

function isAnswering(socket: Socket): boolean {
  const { _httpMessage: answer } = socket as Socket & { readonly _httpMessage?: ServerResponse | null };
  return answer?.headersSent === true;
}

/** True for a connection that timed out without a byte: clients open some in advance, and expect no response. */
function isUnused({ code }: { code?: string }, socket: Socket): boolean {
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0;
}

function verdictOf(parserCode: string | undefined): { code: number; message: string } {
  if (parserCode === 'HPE_HEADER_OVERFLOW') return { code: 431, message: 'the headers of the request are too large' };
  if (parserCode === 'ERR_HTTP_REQUEST_TIMEOUT') return { code: 408, message: 'the head of the request took too long' };
  if (parserCode === 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    return { code: 413, message: 'the chunk extensions are too large' };
  return { code: 400, message: 'the request is not valid HTTP, or has another length than it declares' };
}
