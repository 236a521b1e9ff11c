import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { ApiError } from '../../machinery/api-error.js';
import type { UpgradeRequest } from '../upgrade-request.js';

/**
 * A message in memory. client-go and kubectl send up to 32 KiB; other clients send what their caller writes at once.
 * Messages beyond end the connection with 1009.
 */
const messageBytesMax = 4 * 1024 * 1024;
/** Answers to PING that the client does not read. */
const pongsUnsentMax = 100;

/**
 * Completes the handshake with the subprotocol that the server has chosen; '' for none. Returns undefined if the client has
 * left. Throws ApiError for a request that is no valid handshake. Messages are not compressed.
 */
export async function acceptWebSocket(
  { request, head, take }: UpgradeRequest,
  protocol: string,
): Promise<WebSocket | undefined> {
  requireHandshake(request);
  const { WebSocketServer } = await import('ws');
  const socket = await take();
  if (!socket) return undefined;
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: messageBytesMax,
    perMessageDeflate: false,
    clientTracking: false,
    skipUTF8Validation: true,
    autoPong: false,
  });
  let accepted: WebSocket | undefined;
  if (protocol !== '') server.on('headers', (lines) => lines.push(`Sec-WebSocket-Protocol: ${protocol}`));
  server.handleUpgrade(withoutProtocols(request), socket, head, (webSocket) => (accepted = webSocket));
  if (!accepted) return undefined;
  const webSocket = accepted;
  webSocket.binaryType = 'nodebuffer';
  // Listeners of `close`, which follows, release what the connection holds.
  webSocket.on('error', () => webSocket.terminate());
  let pongs = 0;
  webSocket.on('ping', (data: Buffer) => {
    if (++pongs > pongsUnsentMax) webSocket.terminate();
    else webSocket.pong(data, false, () => pongs--);
  });
  return webSocket;
}

/** Throws what kube-apiserver answers. The connection is taken only after this. */
function requireHandshake({ method, headers }: IncomingMessage): void {
  if (method !== 'GET') throw ApiError.methodNotAllowed();
  if (headers['sec-websocket-version'] !== '13') throw ApiError.badRequest('missing or bad WebSocket Version');
  if (!/^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '')) {
    throw ApiError.badRequest('mismatch challenge/response');
  }
}

/** `ws` refuses names with a slash, as in SPDY/3.1+portforward.k8s.io. */
function withoutProtocols(request: IncomingMessage): IncomingMessage {
  const headers = { ...request.headers };
  delete headers['sec-websocket-protocol'];
  return Object.create(request, { headers: { value: headers } }) as IncomingMessage;
}

/** Returns the bytes of a message; `ws` gives a list for some. */
export function messageBytes(data: Buffer | ArrayBuffer | Buffer[]): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
