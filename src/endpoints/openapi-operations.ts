import type { Encoding } from '../codec/encodings.js';
import { apiVersionOf, type GroupVersionKind } from '../machinery/gvk.js';
import type { HandledSubresource, ResourceVerb, SubresourceDefinition } from '../registry/resource-definition.js';
import type { Served, ServedVersion } from '../registry/resource-registry.js';
import { patchTypes } from '../verbs/patch.js';
import type { MetaSchema, Schema } from './openapi-meta-schemas.js';
import type { OpenApiSchemas } from './openapi-schemas.js';

/** What can be done at which path, in the words that OpenAPI 2.0 and 3.0 share. */
export interface ApiPath {
  readonly path: string;
  readonly operations: readonly ApiOperation[];
}

export interface ApiOperation {
  readonly method: 'get' | 'put' | 'post' | 'delete' | 'patch';
  readonly id: string;
  readonly tag: string;
  readonly action?: string;
  readonly gvk?: GroupVersionKind;
  readonly parameters: readonly ApiParameter[];
  readonly body?: { readonly schema: Schema; readonly required: boolean; readonly mediaTypes: readonly string[] };
  readonly produces: readonly string[];
  /** What the answer is, and the codes that it comes with. */
  readonly answer: Schema;
  readonly codes: readonly (200 | 201 | 202)[];
}

export interface ApiParameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly type: 'string' | 'boolean' | 'integer';
}

const query = (type: ApiParameter['type'], ...names: string[]): ApiParameter[] =>
  names.map((name) => ({ name, in: 'query', type }));
const inPath = (name: string): ApiParameter => ({ name, in: 'path', type: 'string' });

const pretty = query('string', 'pretty');
const selectors = [
  ...query('string', 'continue', 'fieldSelector', 'labelSelector', 'resourceVersion', 'resourceVersionMatch'),
  ...query('string', 'shardSelector'),
  ...query('integer', 'limit', 'timeoutSeconds'),
  ...query('boolean', 'sendInitialEvents'),
];
const listing = [...selectors, ...query('boolean', 'allowWatchBookmarks', 'watch')];
const writing = query('string', 'dryRun', 'fieldManager', 'fieldValidation');
const patching = [...writing, ...query('boolean', 'force')];
const deleting = [
  ...query('string', 'dryRun', 'propagationPolicy'),
  ...query('integer', 'gracePeriodSeconds'),
  ...query('boolean', 'ignoreStoreReadErrorWithClusterBreakingPotential', 'orphanDependents'),
];

interface Context {
  readonly schemas: OpenApiSchemas;
  readonly mediaTypes: readonly string[];
  /** With those of streams. */
  readonly watchMediaTypes: readonly string[];
  /** `/apis/apps/v1` */
  readonly root: string;
  /** `AppsV1`: what the names of operations have after their verb. */
  readonly title: string;
  readonly tag: string;
}

export interface OperationParts {
  readonly schemas: OpenApiSchemas;
  readonly encodings: readonly Encoding[];
  readonly apiDomain: string;
}

/** All paths of one group and version, the path of its discovery first. */
export function pathsOfVersion(served: ServedVersion, parts: OperationParts): ApiPath[] {
  const { group, version, resources } = served;
  const { title, tag } = groupNames(group, parts.apiDomain);
  const mediaTypes = parts.encodings.map(({ mediaType }) => mediaType);
  const streams = parts.encodings.filter(({ streamMediaType }) => streamMediaType !== undefined);
  const context: Context = {
    schemas: parts.schemas,
    mediaTypes,
    watchMediaTypes: [...mediaTypes, ...streams.map(({ mediaType }) => `${mediaType};stream=watch`)],
    root: `/${group === '' ? 'api' : 'apis'}/${apiVersionOf(group, version)}`,
    title: `${title}${capitalised(version)}`,
    tag: `${tag}_${version}`,
  };
  return [
    discovery(`${context.root}/`, `get${context.title}APIResources`, context.tag, 'APIResourceList', parts),
    ...resources.flatMap((resource) => pathsOfResource(resource, context)),
  ].sort((a, b) => (a.path < b.path ? -1 : 1));
}

export function pathOfGroup(group: string, parts: OperationParts): ApiPath {
  const { title, tag } = groupNames(group, parts.apiDomain);
  return discovery(`/apis/${group}/`, `get${title}APIGroup`, tag, 'APIGroup', parts);
}

export function pathOfRoot(root: 'api' | 'apis', parts: OperationParts): ApiPath {
  return root === 'api'
    ? discovery('/api/', 'getCoreAPIVersions', 'core', 'APIVersions', parts)
    : discovery('/apis/', 'getAPIVersions', 'apis', 'APIGroupList', parts);
}

function discovery(
  path: string,
  id: string,
  tag: string,
  kind: MetaSchema,
  { schemas, encodings }: OperationParts,
): ApiPath {
  const produces = encodings.map(({ mediaType }) => mediaType);
  return {
    path,
    operations: [{ method: 'get', id, tag, parameters: [], produces, answer: schemas.meta(kind), codes: [200] }],
  };
}

function pathsOfResource(served: Served, context: Context): ApiPath[] {
  const { plural, namespaced, kind } = served.definition;
  const within = namespaced ? '/namespaces/{namespace}' : '';
  const parameters = namespaced ? [inPath('namespace')] : [];
  const scope: Scope = {
    context,
    gvk: served.definition,
    name: `${namespaced ? 'Namespaced' : ''}${kind}`,
    parameters,
  };
  const collection = `${context.root}${within}/${plural}`;
  if (served.type === 'virtual') return [{ path: collection, operations: [create(scope, served.definition)] }];

  const { verbs, listKind, subresources } = served.definition;
  const object = { ...scope, parameters: [...parameters, inPath('name')] };
  const has = (verb: ResourceVerb) => verbs.includes(verb);
  const list = (scope: Scope) => listOperation(scope, listKind, has('watch'));
  const paths = [
    {
      path: collection,
      operations: [
        ...(has('list') ? [list(scope)] : []),
        ...(has('create') ? [create(scope, served.definition)] : []),
        ...(has('deletecollection') ? [deleteCollection(scope)] : []),
      ],
    },
    {
      path: `${collection}/{name}`,
      operations: [
        ...(has('get') ? [read(object)] : []),
        ...(has('update') ? [replace(object)] : []),
        ...(has('delete') ? [remove(object, served.definition.returnsDeletedObject)] : []),
        ...(has('patch') ? [patch(object)] : []),
      ],
    },
    ...Object.entries(subresources).map(([name, subresource]) => ({
      path: `${collection}/{name}/${name}`,
      operations: subresourceOperations(object, name, subresource),
    })),
  ];
  const everywhere = { ...scope, name: `${kind}ForAllNamespaces`, parameters: [] };
  if (namespaced && has('list')) paths.push({ path: `${context.root}/${plural}`, operations: [list(everywhere)] });
  if (has('watch')) {
    const watched = `${context.root}/watch`;
    const watch = (scope: Scope, name: string) => [watchOperation(scope, name, name === scope.name)];
    paths.push(
      { path: `${watched}${within}/${plural}`, operations: watch(scope, `${scope.name}List`) },
      { path: `${watched}${within}/${plural}/{name}`, operations: watch(object, object.name) },
    );
    if (namespaced) {
      paths.push({
        path: `${watched}/${plural}`,
        operations: watch(everywhere, `${kind}ListForAllNamespaces`),
      });
    }
  }
  return paths.filter(({ operations }) => operations.length > 0);
}

/** Where operations are: what of, and what their path has already. */
interface Scope {
  readonly context: Context;
  readonly gvk: GroupVersionKind;
  /** `NamespacedPodStatus`: the end of the names of operations. */
  readonly name: string;
  readonly parameters: readonly ApiParameter[];
}

function operation(
  scope: Scope,
  method: ApiOperation['method'],
  action: string,
  verb: string,
  rest: Pick<ApiOperation, 'answer' | 'codes'> & Partial<ApiOperation>,
): ApiOperation {
  const { context, gvk } = scope;
  return {
    method,
    id: `${verb}${context.title}${scope.name}`,
    tag: context.tag,
    action,
    gvk,
    produces: context.mediaTypes,
    ...rest,
    parameters: [...scope.parameters, ...pretty, ...(rest.parameters ?? [])],
  };
}

const objectOf = ({ context, gvk }: Scope) => context.schemas.object(gvk);
const bodyOf = (schema: Schema) => ({ schema, required: true, mediaTypes: ['*/*'] });
const deleteOptions = ({ context }: Scope) => ({
  schema: context.schemas.meta('DeleteOptions'),
  required: false,
  mediaTypes: ['*/*'],
});

function read(scope: Scope): ApiOperation {
  return operation(scope, 'get', 'get', 'read', { answer: objectOf(scope), codes: [200] });
}

function listOperation(scope: Scope, listKind: string, canWatch: boolean): ApiOperation {
  const { context, gvk } = scope;
  return operation(scope, 'get', 'list', 'list', {
    parameters: listing,
    produces: canWatch ? context.watchMediaTypes : context.mediaTypes,
    answer: context.schemas.list(gvk, listKind),
    codes: [200],
  });
}

function watchOperation(scope: Scope, name: string, isOne: boolean): ApiOperation {
  const { context } = scope;
  return operation({ ...scope, name }, 'get', isOne ? 'watch' : 'watchlist', 'watch', {
    parameters: listing,
    produces: context.watchMediaTypes,
    answer: context.schemas.meta('WatchEvent'),
    codes: [200],
  });
}

function create(scope: Scope, kind: GroupVersionKind): ApiOperation {
  const schema = scope.context.schemas.object(kind);
  return operation(scope, 'post', 'post', 'create', {
    parameters: writing,
    body: bodyOf(schema),
    answer: schema,
    codes: [200, 201, 202],
  });
}

function replace(scope: Scope): ApiOperation {
  const schema = objectOf(scope);
  return operation(scope, 'put', 'put', 'replace', {
    parameters: writing,
    body: bodyOf(schema),
    answer: schema,
    codes: [200, 201],
  });
}

/**
 * The media types are those that a PATCH may have here, but for the one whose patches clients work out from the merge
 * keys in the schema: ours are open, and a client that is not sent to them uses what it knows of the kind itself.
 */
function patch(scope: Scope): ApiOperation {
  return operation(scope, 'patch', 'patch', 'patch', {
    parameters: patching,
    body: { schema: scope.context.schemas.meta('Patch'), required: true, mediaTypes: patchMediaTypes() },
    answer: objectOf(scope),
    codes: [200, 201],
  });
}

function patchMediaTypes(): string[] {
  return Object.keys(patchTypes).filter((mediaType) => mediaType !== 'application/strategic-merge-patch+json');
}

function remove(scope: Scope, returnsObject: boolean): ApiOperation {
  return operation(scope, 'delete', 'delete', 'delete', {
    parameters: deleting,
    body: deleteOptions(scope),
    answer: returnsObject ? objectOf(scope) : scope.context.schemas.meta('Status'),
    codes: [200, 202],
  });
}

function deleteCollection(scope: Scope): ApiOperation {
  const names = new Set(deleting.map(({ name }) => name));
  return operation(scope, 'delete', 'deletecollection', 'deleteCollection', {
    id: `delete${scope.context.title}Collection${scope.name}`,
    parameters: [...deleting, ...selectors.filter(({ name }) => !names.has(name))],
    body: deleteOptions(scope),
    answer: scope.context.schemas.meta('Status'),
    codes: [200],
  });
}

function subresourceOperations(object: Scope, name: string, subresource: SubresourceDefinition): ApiOperation[] {
  const kind = subresource.type === 'lens' ? (subresource.viewKind ?? object.gvk) : subresource.kind;
  const scope = { ...object, gvk: kind, name: `${object.name}${name.split('/').map(capitalised).join('')}` };
  if (subresource.type === 'handled' && subresource.connects) return connections(scope, subresource);
  const verbs: readonly string[] = subresource.verbs;
  return [
    ...(verbs.includes('get') ? [read(scope)] : []),
    ...(verbs.includes('update') ? [replace(scope)] : []),
    ...(verbs.includes('create') ? [create(scope, kind)] : []),
    ...(verbs.includes('delete') ? [remove(scope, false)] : []),
    ...(verbs.includes('patch') ? [patch(scope)] : []),
  ];
}

/** What comes over a connection is nothing that a schema could tell of. */
function connections(scope: Scope, { verbs }: HandledSubresource): ApiOperation[] {
  const methods = { get: 'get', update: 'put', create: 'post', delete: 'delete', patch: 'patch' } as const;
  return Object.entries(methods).flatMap(([verb, method]) =>
    (verbs as readonly string[]).includes(verb)
      ? [
          {
            ...operation(scope, method, 'connect', 'connect', {
              id: `connect${scope.context.title}${capitalised(method)}${scope.name}`,
              produces: ['*/*'],
              answer: { type: 'string' },
              codes: [200],
            }),
            parameters: scope.parameters,
          },
        ]
      : [],
  );
}

/** `rbac.authorization.k8s.io` → `RbacAuthorization`, `rbacAuthorization`. */
function groupNames(group: string, apiDomain: string): { title: string; tag: string } {
  const suffix = `.${apiDomain}`;
  const stem = group === '' ? 'core' : group.endsWith(suffix) ? group.slice(0, -suffix.length) : group;
  const title = stem.split(/[.-]/).map(capitalised).join('');
  return { title, tag: title.charAt(0).toLowerCase() + title.slice(1) };
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
