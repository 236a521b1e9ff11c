import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { json } from '../codec/encodings.js';
import { ApiError } from '../machinery/api-error.js';

/**
 * What is not HTTP never becomes a request: the parser gives up, and nobody knows where the next request would begin.
 * The client gets a Status like for any other mistake, and the connection ends.
 */
export function refuseUnreadable(error: Error & { code?: string }, socket: Socket): void {
  // A connection that was reset has nobody at its other end.
  // In the middle of an answer, a Status would become a part of it.
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

/** Opened in advance and not needed: an answer to no request would confuse its client. */
function isUnused({ code }: { code?: string }, socket: Socket): boolean {
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0;
}

function verdictOf(parserCode: string | undefined): { code: number; message: string } {
  if (parserCode === 'HPE_HEADER_OVERFLOW') return { code: 431, message: 'the headers of the request are too large' };
  if (parserCode === 'ERR_HTTP_REQUEST_TIMEOUT') return { code: 408, message: 'the head of the request took too long' };
  if (parserCode === 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    return { code: 413, message: 'the chunk extensions are too large' };
  return { code: 400, message: 'the request is not HTTP, or says another length than it has' };
}
