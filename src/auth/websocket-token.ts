import type { IncomingHttpHeaders } from 'node:http';

const protocolPrefix = 'base64url.bearer.authorization.k8s.io.';

/**
 * Returns the Authorization header that stands for the bearer token among the subprotocols of a WebSocket, which browsers
 * send since they cannot set headers. Undefined without such a token, and `malformed` for one that cannot be read or that
 * is not accompanied by another subprotocol, the one that the server confirms.
 */
export function webSocketAuthorization(headers: IncomingHttpHeaders): string | undefined {
  const { upgrade, connection = '' } = headers;
  if (upgrade?.toLowerCase() !== 'websocket' || !/\bupgrade\b/i.test(connection)) return undefined;
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((protocol) => protocol.trim());
  const tokens = protocols.filter((protocol) => protocol.startsWith(protocolPrefix));
  if (tokens.length === 0) return undefined;
  const token = decoded(tokens[0]!.slice(protocolPrefix.length));
  const isUsable = tokens.length === 1 && tokens.length < protocols.length;
  return isUsable && token !== undefined ? `Bearer ${token}` : malformed;
}

/** Stands for a token that cannot be read; no client can send it. */
export const malformed = '\0';

function decoded(text: string): string | undefined {
  if (!/^[\w-]+$/.test(text) || text.length % 4 === 1) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  const token = bytes.toString('utf8');
  return Buffer.from(token).equals(bytes) && !/[\s\0]/.test(token) ? token : undefined;
}
