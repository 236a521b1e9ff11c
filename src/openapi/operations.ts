import type { GroupVersionKind } from '../machinery/gvk.js';
import { patchTypes } from '../verbs/patch.js';
import {
  deleting,
  deletingCollections,
  listing,
  patching,
  pretty,
  reading,
  writing,
  type ApiParameter,
} from './parameters.js';
import type { OpenApiSchemas } from './schemas.js';
import type { Schema } from './type-schemas.js';

/** Operation of one method at a path, independent of the OpenAPI version. */
export interface ApiOperation {
  readonly method: 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch';
  readonly id: string;
  readonly tag: string;
  readonly action?: string;
  readonly gvk?: GroupVersionKind;
  readonly parameters: readonly ApiParameter[];
  readonly body?: { readonly schema: Schema; readonly required: boolean };
  /** Media types of the request body. */
  readonly consumes?: readonly string[];
  readonly produces: readonly string[];
  /** Schema of the response. */
  readonly answer: Schema;
  readonly codes: readonly (200 | 201 | 202)[];
}

/** Context of the operations at one path: the kind, the parameters of the path, and parts of operation ids. */
export interface Scope {
  readonly schemas: OpenApiSchemas;
  readonly gvk: GroupVersionKind;
  /** Part of operation ids after the verb: `CoreV1`. */
  readonly title: string;
  /** Last part of operation ids: `NamespacedPodStatus`. */
  readonly name: string;
  readonly tag: string;
  readonly parameters: readonly ApiParameter[];
  readonly mediaTypes: readonly string[];
  /** Media types including those of watch streams. */
  readonly watchMediaTypes: readonly string[];
  /** The kind of the custom resource, also for subresources of another kind (scale). Undefined for built-in kinds. */
  readonly custom: GroupVersionKind | undefined;
}

const anything = ['*/*'];
const text: Schema = { type: 'string' };

function operation(
  scope: Scope,
  method: ApiOperation['method'],
  action: string,
  verb: string,
  rest: Pick<ApiOperation, 'answer' | 'codes'> & Partial<ApiOperation>,
): ApiOperation {
  return {
    method,
    id: `${verb}${scope.title}${scope.name}`,
    tag: scope.tag,
    action,
    gvk: scope.custom ?? scope.gvk,
    consumes: scope.custom ? scope.mediaTypes : anything,
    produces: scope.mediaTypes,
    ...rest,
    parameters: [...scope.parameters, ...pretty, ...(rest.parameters ?? [])],
  };
}

const objectOf = ({ schemas, gvk }: Scope) => schemas.object(gvk);
const bodyOf = (schema: Schema) => ({ schema, required: true });
const deleteOptions = ({ schemas }: Scope) => ({ schema: schemas.meta('DeleteOptions'), required: false });

export function read(scope: Scope): ApiOperation {
  return operation(scope, 'get', 'get', 'read', {
    ...(scope.custom && { parameters: reading }),
    answer: objectOf(scope),
    codes: [200],
  });
}

/** Returns the operation that reads text, as the log of a Pod. */
export function readText(scope: Scope, options: GroupVersionKind): ApiOperation {
  return operation(scope, 'get', 'get', 'read', {
    parameters: scope.schemas.queryOf(options),
    produces: ['text/plain', ...scope.mediaTypes],
    answer: text,
    codes: [200],
  });
}

export function list(scope: Scope, listKind: string): ApiOperation {
  return operation(scope, 'get', 'list', 'list', {
    parameters: listing,
    produces: scope.watchMediaTypes,
    answer: scope.schemas.list(scope.gvk, listKind),
    codes: [200],
  });
}

/** Returns the operation of a deprecated watch path: `watch` for one object, `watchlist` for a collection. */
export function watch(scope: Scope, action: 'watch' | 'watchlist'): ApiOperation {
  return operation(scope, 'get', action, 'watch', {
    parameters: listing,
    produces: scope.watchMediaTypes,
    answer: scope.schemas.meta('WatchEvent'),
    codes: [200],
  });
}

export function create(scope: Scope): ApiOperation {
  const schema = objectOf(scope);
  return operation(scope, 'post', 'post', 'create', {
    parameters: writing,
    body: bodyOf(schema),
    answer: schema,
    codes: [200, 201, 202],
  });
}

export function replace(scope: Scope): ApiOperation {
  const schema = objectOf(scope);
  return operation(scope, 'put', 'put', 'replace', {
    parameters: writing,
    body: bodyOf(schema),
    answer: schema,
    codes: [200, 201],
  });
}

export function patch(scope: Scope): ApiOperation {
  return operation(scope, 'patch', 'patch', 'patch', {
    parameters: patching,
    body: bodyOf(scope.schemas.meta('Patch')),
    consumes: patchMediaTypes(scope),
    answer: objectOf(scope),
    codes: scope.custom ? [200] : [200, 201],
  });
}

/**
 * Returns the media types of PATCH. Strategic merge patch is omitted for kinds without a known schema, since clients
 * compute it from the merge keys in the schema.
 */
function patchMediaTypes({ schemas, gvk, custom }: Scope): string[] {
  const texts = Object.keys(patchTypes).filter((mediaType) => /\+(json|yaml)$/.test(mediaType));
  return !custom && schemas.knows(gvk) ? texts : texts.filter((mediaType) => !mediaType.includes('/strategic-'));
}

export function remove(scope: Scope, returnsObject: boolean): ApiOperation {
  return operation(scope, 'delete', 'delete', 'delete', {
    parameters: deleting,
    body: deleteOptions(scope),
    answer: returnsObject ? objectOf(scope) : scope.schemas.meta('Status'),
    codes: [200, 202],
  });
}

export function removeCollection(scope: Scope): ApiOperation {
  return operation(scope, 'delete', 'deletecollection', 'deleteCollection', {
    id: `delete${scope.title}Collection${scope.name}`,
    ...(scope.custom ? { parameters: listing } : { parameters: deletingCollections, body: deleteOptions(scope) }),
    answer: scope.schemas.meta('Status'),
    codes: [200],
  });
}

/** Returns the operation of a connect subresource (exec, attach, portforward, proxy), whose data has no schema. */
export function connect(scope: Scope, method: ApiOperation['method'], verb: string): ApiOperation {
  return {
    ...operation(scope, method, 'connect', 'connect', {
      id: `connect${scope.title}${verb}${scope.name}`,
      produces: anything,
      answer: text,
      codes: [200],
    }),
    parameters: scope.parameters,
  };
}
