import { ApiError } from './api-error.js';
import { fieldSelectorIfValid } from './field-selector.js';
import { validatePathSegment } from './names.js';
import { splitText } from '../std/split-text.js';
import { emptyQuery, isTrueParameter, percentDecode, Query } from './query.js';

/**
 * The parsed URL of a request. Parsed first for every request, so in one pass and without parsing the query.
 *
 *   /api/v1/namespaces/web/pods/p-1/proxy/a/b
 *    ^api ^version     ^ns ^resource ^name ^subresource; parts = pods, p-1, proxy, a, b
 */
export interface RequestInfo {
  readonly isResourceRequest: boolean;
  /** Percent-decoded; redundant slashes are kept. */
  readonly path: string;
  /**
   * For resources get, list, watch, create, update, patch, delete, deletecollection, proxy or ''; otherwise the HTTP
   * method in lower case.
   */
  readonly verb: string;
  /** `api` or `apis`; '' for other paths. */
  readonly apiPrefix: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** The path segments from the resource on. */
  readonly parts: readonly string[];
  readonly query: Query;
  /** The error of an invalid URL, thrown when the request is handled. */
  readonly error: ApiError | undefined;
}

const noParts: readonly string[] = [];

export function parseRequestInfo(method: string, rawUrl: string): RequestInfo {
  const queryAt = rawUrl.indexOf('?');
  const query = queryAt < 0 ? emptyQuery : new Query(rawUrl.slice(queryAt + 1));
  let rawPath = queryAt < 0 ? rawUrl : rawUrl.slice(0, queryAt);
  if (rawPath.charCodeAt(0) !== slash) rawPath = pathOfAbsoluteUrl(rawPath);
  if (!rawPath.includes('%')) return parsePath(method, rawPath, query);
  const path = percentDecode(rawPath);
  if (path === undefined) {
    return nonResource(method, rawPath, query, ApiError.badRequest(`invalid URL escape in ${rawPath}`));
  }
  return parsePath(method, path, query);
}

function parsePath(method: string, path: string, query: Query): RequestInfo {
  const all = splitPath(path);
  const apiPrefix = all[0];
  // A resource path has at least prefix, version and resource; in /apis also a group.
  const versionAt = apiPrefix === 'api' ? 1 : apiPrefix === 'apis' ? 2 : 0;
  if (versionAt === 0 || all.length < versionAt + 2) return nonResource(method, path, query);

  let at = versionAt + 1;
  let verb: string;
  if (all[at] === 'watch' || all[at] === 'proxy') {
    verb = all[at]!;
    if (++at === all.length) {
      const error = ApiError.badRequest(`unable to determine kind and namespace from url, ${path}`);
      return nonResource(method, path, query, error);
    }
  } else {
    verb = verbOfMethod(method);
  }

  let namespace = '';
  if (all[at] === 'namespaces' && at + 1 < all.length) {
    namespace = all[at + 1]!;
    const next = all[at + 2];
    if (next !== undefined && next !== 'status' && next !== 'finalize') at += 2;
  }

  let name = all[at + 1] ?? '';
  if (name === '') {
    if (verb === 'get') {
      verb = isTrueParameter(query.first('watch')) ? 'watch' : 'list';
      name = nameInFieldSelector(query);
    } else if (verb === 'delete') {
      verb = 'deletecollection';
    }
  }
  return {
    isResourceRequest: true,
    path,
    verb,
    apiPrefix: apiPrefix!,
    group: versionAt === 2 ? all[1]! : '',
    version: all[versionAt]!,
    namespace,
    resource: all[at]!,
    subresource: verb === 'proxy' ? '' : (all[at + 2] ?? ''),
    name,
    parts: all.slice(at),
    query,
    error: undefined,
  };
}

const longRunningSubresources = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

/** True for watches and connections to Pods, which have no deadline and separate in-flight limits. */
export function isLongRunning({ verb, subresource }: RequestInfo): boolean {
  return verb === 'watch' || verb === 'proxy' || longRunningSubresources.has(subresource);
}

function nonResource(method: string, path: string, query: Query, error?: ApiError): RequestInfo {
  return {
    isResourceRequest: false,
    path,
    verb: method.toLowerCase(),
    apiPrefix: '',
    group: '',
    version: '',
    namespace: '',
    resource: '',
    subresource: '',
    name: '',
    parts: noParts,
    query,
    error,
  };
}

function verbOfMethod(method: string): string {
  switch (method) {
    case 'GET':
    case 'HEAD':
      return 'get';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return 'delete';
    default:
      return '';
  }
}

/** A list with `metadata.name=x` is authorized for that name. An invalid selector is rejected later. */
function nameInFieldSelector(query: Query): string {
  const text = query.first('fieldSelector');
  if (text === undefined || text === '') return '';
  const name = fieldSelectorIfValid(text)?.requiresExact('metadata.name') ?? '';
  return validatePathSegment(name).length === 0 ? name : '';
}

const slash = 0x2f;

/** Removes slashes at both ends; repeated slashes in between are empty segments. */
function splitPath(path: string): string[] {
  let start = 0;
  let end = path.length;
  while (start < end && path.charCodeAt(start) === slash) start++;
  while (end > start && path.charCodeAt(end - 1) === slash) end--;
  return splitText(path.slice(start, end), '/');
}

/** Proxies may send `https://host/path`, and OPTIONS may ask for `*`. */
export function pathOfAbsoluteUrl(url: string): string {
  const schemeEnd = url.indexOf('://');
  if (schemeEnd < 0) return url;
  const pathAt = url.indexOf('/', schemeEnd + 3);
  return pathAt < 0 ? '/' : url.slice(pathAt);
}
