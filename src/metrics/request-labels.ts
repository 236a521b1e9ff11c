import type { RequestInfo } from '../machinery/request-info.js';

/** First segments of non-resource paths that have a series of their own. */
export const knownPaths = new Set([
  '',
  '.well-known',
  'api',
  'apis',
  'debug',
  'flagz',
  'healthz',
  'livez',
  'metrics',
  'openapi',
  'openid',
  'readyz',
  'statusz',
  'version',
]);

// Maps, since a client can send any name as the method of HTTP/2, also `constructor`.
export const verbNames: ReadonlyMap<string, string> = new Map([
  ['get', 'GET'],
  ['list', 'LIST'],
  ['watch', 'WATCH'],
  ['create', 'POST'],
  ['update', 'PUT'],
  ['patch', 'PATCH'],
  ['apply', 'APPLY'],
  ['delete', 'DELETE'],
  ['deletecollection', 'DELETECOLLECTION'],
  ['proxy', 'PROXY'],
  ['head', 'GET'],
  ['post', 'POST'],
  ['put', 'PUT'],
]);

/** Verbs in the labels of apiserver_request_body_size_bytes. */
export const bodyVerbs: ReadonlyMap<string, string> = new Map([
  ['POST', 'create'],
  ['PUT', 'update'],
  ['APPLY', 'patch'],
]);

const fieldValidations = ['Ignore', 'Warn', 'Strict'] as const;
export type FieldValidation = (typeof fieldValidations)[number];

export function isRead({ verb }: RequestInfo): boolean {
  return verb === 'get' || verb === 'list' || verb === 'watch' || verb === 'head' || verb === 'options';
}

export function scopeOf({ verb, name, namespace }: RequestInfo): string {
  return name !== '' || verb === 'create' ? 'resource' : namespace !== '' ? 'namespace' : 'cluster';
}

/** Returns the fieldValidation of create, update and patch; undefined for other verbs and for invalid values. */
export function fieldValidationOf({ verb, query }: RequestInfo): FieldValidation | undefined {
  if (verb !== 'create' && verb !== 'update' && verb !== 'patch') return undefined;
  const requested = (query.raw === '' ? undefined : query.first('fieldValidation')) || 'Warn';
  return fieldValidations.find((known) => known === requested);
}

export function dryRunOf({ query }: RequestInfo): string {
  const values = query.all('dryRun');
  if (values.length === 0) return '';
  return values.every((value) => value === 'All') ? 'All' : 'invalid';
}
