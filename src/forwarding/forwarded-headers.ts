import type { IncomingHttpHeaders } from 'node:http';

/** Headers of one connection (RFC 9110, 7.6.1), which are not forwarded. */
const ofConnection = new Set([
  ...['connection', 'proxy-connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'http2-settings'],
]);
/** Node sends 100 Continue itself. */
const expectHeader = 'expect';
/** A WebSocket subprotocol that carries a bearer token, from clients that cannot set headers. */
const tokenProtocolPrefix = 'base64url.bearer.authorization.k8s.io.';

interface RequestHead {
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingHttpHeaders;
}

interface RequestHeaderOptions {
  /** Lower-case names of headers that this server has used, such as Authorization, and those that the caller sets. */
  readonly isDropped: (name: string) => boolean;
  /** The address of the client, appended to X-Forwarded-For. */
  readonly clientAddress: string | undefined;
  /** Replaces the Host of the client. */
  readonly host?: string | undefined;
  /** Headers that replace those of the client. */
  readonly more?: Readonly<Record<string, string | readonly string[]>> | undefined;
  /** True: Connection and Upgrade are forwarded. */
  readonly isUpgrade?: boolean | undefined;
  readonly method: string;
  /** True if the request has a body. */
  readonly hasBody?: boolean | undefined;
}

/** Node would frame an empty body of these as chunks. */
const methodsWithBody = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Returns the headers of a forwarded request: names and values in turn, as the client sent them, without those of its
 * connection and those that are dropped.
 */
export function requestHeaders({ rawHeaders, headers }: RequestHead, options: RequestHeaderOptions): string[] {
  const { isDropped, clientAddress, more = {}, isUpgrade = false, hasBody = false, method } = options;
  const named = connectionOptions(headers.connection);
  const replaced = new Set(Object.keys(more).map((name) => name.toLowerCase()));
  const result: string[] = ['Host', options.host ?? headers.host ?? pseudoHost(rawHeaders)];
  const cookies: string[] = [];
  const forwardedFor: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    const value = rawHeaders[i + 1]!;
    const lower = name.toLowerCase();
    if (lower === 'host' || lower === expectHeader || lower.startsWith(':')) continue;
    if (ofConnection.has(lower) || named.has(lower) || replaced.has(lower) || isDropped(lower)) continue;
    if (lower === 'x-forwarded-for') forwardedFor.push(value);
    // HTTP/2 clients send a header for each cookie.
    else if (lower === 'cookie') cookies.push(value);
    else if (lower === 'sec-websocket-protocol') pushProtocols(result, name, value);
    // Framed anew if it has no length; a length without a body would be waited for.
    else if (lower !== 'content-length' || hasBody) result.push(name, value);
  }
  if (cookies.length > 0) result.push('Cookie', cookies.join('; '));
  const path = clientAddress === undefined ? forwardedFor : [...forwardedFor, clientAddress];
  if (path.length > 0 && !replaced.has('x-forwarded-for')) result.push('X-Forwarded-For', path.join(', '));
  for (const [name, value] of Object.entries(more)) {
    for (const one of typeof value === 'string' ? [value] : value) result.push(name, one);
  }
  if (
    String(headers.te ?? '')
      .split(',')
      .some((one) => one.trim().toLowerCase() === 'trailers')
  )
    result.push('Te', 'trailers');
  if (isUpgrade) result.push('Connection', 'Upgrade', 'Upgrade', headers.upgrade ?? '');
  if (hasBody && headers['content-length'] === undefined) result.push('Transfer-Encoding', 'chunked');
  else if (!hasBody && methodsWithBody.has(method)) result.push('Content-Length', '0');
  return result;
}

/** Removes the bearer token among the subprotocols of a WebSocket. */
function pushProtocols(result: string[], name: string, value: string): void {
  const kept = value
    .split(',')
    .map((one) => one.trim())
    .filter((one) => !one.startsWith(tokenProtocolPrefix));
  if (kept.length > 0) result.push(name, kept.join(', '));
}

function pseudoHost(rawHeaders: readonly string[]): string {
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i] === ':authority') return rawHeaders[i + 1]!;
  return '';
}

function connectionOptions(value: string | undefined): ReadonlySet<string> {
  return new Set((value ?? '').split(',').map((one) => one.trim().toLowerCase()));
}

/** Headers that HTTP/2 allows only once; the first value is kept. */
const singleValued = new Set([
  ...['content-type', 'content-length', 'content-encoding', 'content-range', 'etag', 'last-modified', 'location'],
  ...['date', 'expires', 'retry-after', 'server', 'age', 'access-control-allow-credentials'],
]);

export type AnswerHeaders = Record<string, string | string[]>;

/** Collects the headers of an answer, without those of its connection and those in `dropped`, which has lower-case names. */
export function answerHeaders(
  { rawHeaders, headers }: RequestHead,
  dropped: (name: string) => boolean = () => false,
): AnswerHeaders {
  const named = connectionOptions(headers.connection);
  // Without a prototype: the server chooses the names.
  const result = Object.create(null) as AnswerHeaders;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    if (ofConnection.has(name) || named.has(name) || dropped(name)) continue;
    const value = rawHeaders[i + 1]!;
    const known = result[name];
    if (known === undefined) result[name] = value;
    else if (!singleValued.has(name)) result[name] = typeof known === 'string' ? [known, value] : [...known, value];
  }
  return result;
}
