import { ApiError } from '../machinery/api-error.js';
import { pathOfAbsoluteUrl } from '../machinery/request-info.js';
import type { AnyRequest } from './raw-messages.js';

/** Method and URL as the client sent them, for a request that was rewritten for the router. */
interface OriginalRequestLine {
  readonly method: string;
  readonly url: string;
  /** Response to the request, which is then not served. */
  readonly refusal: ApiError | undefined;
}

const unusual = new WeakMap<AnyRequest, OriginalRequestLine>();
/** URLs of requests whose path was shortened before all else, as the client sent them. */
const submittedUrls = new WeakMap<AnyRequest, string>();

/** The methods that the router gets: requests with another one get a route by makeRoutable(). */
export const routedMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Stands for unknown methods: it is routed, and no resource supports it either. */
const routedInstead = 'OPTIONS';
/** A path without a resource. */
const unservedPath = '/*';

/**
 * Rewrites requests that the router would answer by itself (unknown methods, `*`, absolute URLs, bad escapes), so that
 * all requests pass the hooks and guards: they are counted, logged and authenticated.
 */
export function makeRoutable(request: AnyRequest, headersMax: number): void {
  const { method = '', url = '' } = request;
  const headers = request.rawHeaders;
  if (headers.length > 2 * headersMax) return refuse(request, tooManyHeaders(headersMax));
  if (request.httpVersionMajor === 1 && unusual.get(request) === undefined) {
    const hosts = hostsIn(headers);
    if (hosts > 1) return refuse(request, ApiError.badRequest('too many Host headers'));
    if (hosts === 0 && request.httpVersionMinor > 0) {
      return refuse(request, ApiError.badRequest('missing required Host header'));
    }
  }
  const isRouted = routedMethods.has(method);
  const path = routablePath(url);
  if (isRouted && path === url) return;
  if (!unusual.has(request)) unusual.set(request, { method, url, refusal: undefined });
  rewrite(request, isRouted ? method : routedInstead, path);
}

/** Refuses the request after the hooks that count and log it. */
export function refuse(request: AnyRequest, refusal: ApiError): void {
  const { method = '', url = '' } = request;
  unusual.set(request, { method, url, refusal });
  rewrite(request, routedInstead, unservedPath);
}

/** Sets method and URL; both are accessors of HTTP/2 requests too. */
function rewrite(request: AnyRequest, method: string, url: string): void {
  Object.assign(request, { method, url });
}

export function refusalOf(request: AnyRequest): ApiError | undefined {
  return unusual.get(request)?.refusal;
}

/** Serves the request as if the client had sent another URL; logs have the submitted one. */
export function serveAs(request: AnyRequest, url: string): void {
  submittedUrls.set(request, request.url ?? '');
  request.url = url;
}

/** Returns the URL as the client sent it, for logs. */
export function submittedUrl(request: AnyRequest): string {
  return submittedUrls.get(request) ?? requestLine(request).url;
}

/** Returns method and URL as the client sent them, without the prefix that serveAs() has removed. */
export function requestLine(request: AnyRequest): { readonly method: string; readonly url: string } {
  return unusual.get(request) ?? { method: request.method ?? 'GET', url: request.url ?? '/' };
}

const slash = 0x2f;

function routablePath(url: string): string {
  const queryAt = url.indexOf('?');
  const rawPath = queryAt < 0 ? url : url.slice(0, queryAt);
  const isOrigin = rawPath.charCodeAt(0) === slash;
  if (isOrigin && !rawPath.includes('%') && !rawPath.includes('#')) return url;
  // The router ends a path at "#", which Go's server keeps as part of the path.
  const path = (isOrigin ? rawPath : pathOfAbsoluteUrl(rawPath)).replaceAll('#', '%23');
  if (path.charCodeAt(0) !== slash || !isDecodable(path)) return unservedPath;
  return path === rawPath ? url : `${path}${queryAt < 0 ? '' : url.slice(queryAt)}`;
}

/** True if the router can decode the path: it only accepts escapes of UTF-8, unlike Go and RequestInfo. */
function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

function hostsIn(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && (name === 'Host' || name === 'host' || name.toLowerCase() === 'host')) count++;
  }
  return count;
}

function tooManyHeaders(headersMax: number): ApiError {
  const message = `the request has more than ${headersMax} headers`;
  return new ApiError({ reason: 'BadRequest', code: 431, message });
}
