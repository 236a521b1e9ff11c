import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** A request whose connection the client wants to use for another protocol. */
export interface UpgradeRequest {
  readonly request: IncomingMessage;
  /** Bytes that followed the head of the request. */
  readonly head: Buffer;
  /** Takes the connection, to which nothing was answered. Undefined if the client has left, or was answered. */
  readonly take: () => Duplex | undefined | Promise<Duplex | undefined>;
}

interface UpgradeHead {
  readonly headers: IncomingHttpHeaders;
}

/** Returns the values of a header that may be a list, in the order of the client. */
export function listedValues(header: string | readonly string[] | undefined): string[] {
  const texts = typeof header === 'string' ? [header] : (header ?? []);
  return texts.flatMap((text) => text.split(',')).flatMap((value) => value.trim() || []);
}

/** True if the client asks for a WebSocket. */
export const isWebSocketRequest = ({ headers }: UpgradeHead): boolean =>
  (headers.connection ?? '').toLowerCase().includes('upgrade') && (headers.upgrade ?? '').toLowerCase() === 'websocket';

/** The subprotocols that the client of a WebSocket accepts. */
export const requestedSubprotocols = ({ headers }: UpgradeHead): string[] =>
  listedValues(headers['sec-websocket-protocol']);
