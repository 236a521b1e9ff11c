import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Duplex } from 'node:stream';

/** The client of a forwarded request, over HTTP/1.1 or HTTP/2. */
export interface Downstream {
  readonly request: IncomingMessage | Http2ServerRequest;
  readonly response: ServerResponse | Http2ServerResponse;
  /**
   * Called once, before the head of the answer is sent. False if the request was answered otherwise meanwhile, for example
   * at its deadline; the answer of the other server is then discarded.
   */
  begin(code: number): boolean | Promise<boolean>;
  /** Aborts an answer whose head was sent, so that the client sees that it is incomplete. */
  cut(): void;
  /** Counts bytes of the body that are sent. */
  sent(bytes: number): void;
}

/** The client of a request that asks for an upgrade, with the connection that it becomes. */
export interface UpgradeDownstream extends Downstream {
  /** Bytes that the client sent after the head of its request. */
  readonly head: Buffer;
  /**
   * Sends the head of the answer (101) and returns the connection, which belongs to the caller from then on. Undefined if
   * the client has left.
   */
  switchProtocols(headers: Readonly<Record<string, string | string[]>>): Duplex | undefined;
}

/** True if a body follows the head of the request. */
export function hasBody(request: Downstream['request']): boolean {
  if ('stream' in request) return !request.stream.endAfterHeaders;
  const { headers } = request;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
