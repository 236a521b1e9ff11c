import type { FastifyRequest } from 'fastify';
import type { Encoding } from '../codec/encoding.js';
import { ApiError } from '../machinery/api-error.js';
import { commonSelectableFields, requireSelectable, type FieldSelector } from '../machinery/field-selector.js';
import { resourceVersionOfIfMatch } from '../machinery/if-match.js';
import type { RequestInfo } from '../machinery/request-info.js';
import type { Unreadable } from '../registry/read/list.js';
import type { ResourceDefinition } from '../registry/definition/resource-definition.js';
import { patchTypes, supportsPatch, type PatchType } from '../verbs/patch.js';
import type { ServedResource } from '../registry/resource-registry.js';
import type { Target } from '../verbs/verb.js';

/** Returns the type of a patch by its media type. Throws 415 if the kind does not support it. */
export function patchTypeOf(
  mediaType: string,
  served: ServedResource,
  encodings: readonly Pick<Encoding, 'name'>[],
): PatchType | 'apply' {
  const type = Object.hasOwn(patchTypes, mediaType) ? patchTypes[mediaType] : undefined;
  const readsCbor = () => encodings.some(({ name }) => name === 'cbor');
  if (type && supportsPatch(mediaType, served, readsCbor)) return type;
  throw unsupportedPatch(
    mediaType,
    Object.keys(patchTypes).filter((name) => supportsPatch(name, served, readsCbor)),
  );
}

function unsupportedPatch(mediaType: string, supported: readonly string[]): ApiError {
  if (patchTypes[mediaType] === 'strategic') return ApiError.unsupportedMediaType(supported);
  const types = supported.join(', ');
  return new ApiError({
    reason: 'UnsupportedMediaType',
    message: `415: Unsupported Media Type: ${mediaType || 'none given'}; this resource takes ${types}`,
    details: {},
  });
}

export function preconditionsOf(request: FastifyRequest): Target['preconditions'] {
  const { verb } = request.kube.info;
  if (verb !== 'update' && verb !== 'patch' && verb !== 'delete') return undefined;
  const resourceVersion = resourceVersionOfIfMatch(request.raw.headers['if-match']);
  return resourceVersion === undefined ? undefined : { resourceVersion };
}

/** Checks the namespace in the path: required for namespaced kinds except for list and watch, invalid for others. */
export function checkNamespace(info: RequestInfo, namespaced: boolean): void {
  const hasNamespace = info.namespace !== '' && info.resource !== 'namespaces';
  if (hasNamespace && !namespaced) throw ApiError.noSuchResource();
  if (!namespaced || hasNamespace || info.verb === 'list' || info.verb === 'watch') return;
  throw info.name !== '' ? ApiError.noSuchResource() : ApiError.methodNotAllowed();
}

/** Returns the selector with the field labels of the storage version. Throws if the kind does not support a label. */
export function storedFields(fields: FieldSelector, { selectableFields, hub }: ResourceDefinition): FieldSelector {
  const own = [...Object.keys(selectableFields), ...Object.keys(hub?.fieldLabels ?? {})];
  if (own.length === 0) requireSelectable(fields);
  else {
    const selectable = new Set([...commonSelectableFields, ...own]);
    requireSelectable(fields, selectable, (field) => `field label not supported: ${field}`);
  }
  return hub?.fieldLabels ? fields.renamed(hub.fieldLabels) : fields;
}

/** Throws 405 for create with a name in the path, and for update and patch without one. */
export function checkName({ verb, name }: RequestInfo): void {
  const isWrong = verb === 'create' ? name !== '' : (verb === 'update' || verb === 'patch') && name === '';
  if (isWrong) throw ApiError.methodNotAllowed();
}

/** True for paths whose errors are a Status, as in kube-apiserver. */
export function isApiPath(path: string): boolean {
  return path.startsWith('/api/') || path.startsWith('/apis/');
}

/** Returns the default field manager, as kube-apiserver: User-Agent up to the first slash. */
export function managerOf(request: FastifyRequest): string {
  const agent = request.raw.headers['user-agent'] ?? '';
  const slash = agent.indexOf('/');
  return (slash < 0 ? agent : agent.slice(0, slash)).slice(0, 128) || 'unknown';
}

const shownKeyLength = 200;

export function warnOfUnreadable(warnings: string[], { count, key }: Unreadable): void {
  if (count === 0) return;
  // A key written by another program may contain characters that are invalid in a header.
  const shown = key.slice(0, shownKeyLength).replace(/[^\x21-\x7e]/g, '?');
  warnings.push(`${count} stored object(s) cannot be read and are left out of this list, ${shown} among them`);
}
