import type { Encoding } from '../codec/encoding.js';
import { apiVersionOf } from '../machinery/gvk.js';
import type {
  HandledSubresource,
  ResourceVerb,
  SubresourceDefinition,
} from '../registry/definition/resource-definition.js';
import { isCustom, type Served, type ServedVersion } from '../registry/resource-registry.js';
import {
  connect,
  create,
  list,
  patch,
  read,
  readText,
  remove,
  removeCollection,
  replace,
  watch,
  type ApiOperation,
  type Scope,
} from './operations.js';
import { inPath, subpath } from './parameters.js';
import type { MetaSchema, OpenApiSchemas } from './schemas.js';
import type { Steps } from '../std/steps.js';
import { capitalized } from '../std/capitalized.js';

/** Operations of one path. */
export interface ApiPath {
  readonly path: string;
  readonly operations: readonly ApiOperation[];
}

export interface PathDependencies {
  readonly schemas: OpenApiSchemas;
  readonly encodings: readonly Encoding[];
  readonly apiDomain: string;
}

/** True if all kinds of the version are custom. Documents omit the discovery paths of such versions. */
export function isCustomVersion({ resources }: ServedVersion): boolean {
  return resources.length > 0 && resources.every(isCustom);
}

/** Computes all paths of one group and version, including its discovery path. */
export function* pathsOfVersion(served: ServedVersion, dependencies: PathDependencies): Steps<ApiPath[]> {
  const { group, version, resources } = served;
  const names = groupNames(group, dependencies.apiDomain);
  const at = {
    root: `/${group === '' ? 'api' : 'apis'}/${apiVersionOf(group, version)}`,
    title: `${names.title}${capitalized(version)}`,
    tag: `${names.tag}_${version}`,
  };
  const paths: ApiPath[] = [];
  if (!isCustomVersion(served)) {
    paths.push(discovery(`${at.root}/`, `get${at.title}APIResources`, at.tag, 'APIResourceList', dependencies));
  }
  for (const resource of resources) {
    paths.push(...pathsOfResource(resource, at, dependencies));
    yield;
  }
  return paths.sort((a, b) => (a.path < b.path ? -1 : 1));
}

export function pathOfGroup(group: string, dependencies: PathDependencies): ApiPath {
  const { title, tag } = groupNames(group, dependencies.apiDomain);
  return discovery(`/apis/${group}/`, `get${title}APIGroup`, tag, 'APIGroup', dependencies);
}

export function pathOfRoot(root: 'api' | 'apis', dependencies: PathDependencies): ApiPath {
  return root === 'api'
    ? discovery('/api/', 'getCoreAPIVersions', 'core', 'APIVersions', dependencies)
    : discovery('/apis/', 'getAPIVersions', 'apis', 'APIGroupList', dependencies);
}

function discovery(path: string, id: string, tag: string, kind: MetaSchema, dependencies: PathDependencies): ApiPath {
  const produces = dependencies.encodings.map(({ mediaType }) => mediaType);
  const answer = dependencies.schemas.meta(kind);
  return {
    path,
    operations: [{ method: 'get', id, tag, parameters: [], consumes: produces, produces, answer, codes: [200] }],
  };
}

interface PathContext {
  /** `/apis/apps/v1` */
  readonly root: string;
  /** `AppsV1` */
  readonly title: string;
  readonly tag: string;
}

function pathsOfResource(served: Served, context: PathContext, dependencies: PathDependencies): ApiPath[] {
  const { root } = context;
  const { plural, namespaced, kind } = served.definition;
  const within = namespaced ? '/namespaces/{namespace}' : '';
  const scope = scopeOf(served, context, dependencies);
  const collection = `${root}${within}/${plural}`;
  if (served.type === 'virtual') return [{ path: collection, operations: [create(scope)] }];

  const { verbs, listKind, subresources } = served.definition;
  // As kube-apiserver: resources without deletecollection (namespaces) document a Status as the response of delete.
  const returnsDeletedObject = served.definition.returnsDeletedObject && verbs.includes('deletecollection');
  const object = { ...scope, parameters: [...scope.parameters, inPath('name')] };
  const everywhere = { ...scope, parameters: [] };
  const can = (verb: ResourceVerb, operation: () => ApiOperation) => (verbs.includes(verb) ? [operation()] : []);
  // Custom kinds have no deprecated watch paths.
  const canWatch = (operation: () => ApiOperation) => (isCustom(served) ? [] : can('watch', operation));
  const paths: ApiPath[] = [
    {
      path: collection,
      operations: [
        ...can('list', () => list(scope, listKind)),
        ...can('create', () => create(scope)),
        ...can('deletecollection', () => removeCollection(scope)),
      ],
    },
    {
      path: `${collection}/{name}`,
      operations: [
        ...can('get', () => read(object)),
        ...can('update', () => replace(object)),
        ...can('delete', () => remove(object, returnsDeletedObject)),
        ...can('patch', () => patch(object)),
      ],
    },
    ...Object.entries(subresources).flatMap(([name, subresource]) =>
      pathsOfSubresource(`${collection}/{name}/${name}`, object, name, subresource),
    ),
    {
      path: `${root}/watch${within}/${plural}`,
      operations: canWatch(() => watch({ ...scope, name: `${scope.name}List` }, 'watchlist')),
    },
    { path: `${root}/watch${within}/${plural}/{name}`, operations: canWatch(() => watch(object, 'watch')) },
  ];
  if (namespaced) {
    paths.push(
      {
        path: `${root}/${plural}`,
        operations: can('list', () => list({ ...everywhere, name: `${kind}ForAllNamespaces` }, listKind)),
      },
      {
        path: `${root}/watch/${plural}`,
        operations: canWatch(() => watch({ ...everywhere, name: `${kind}ListForAllNamespaces` }, 'watchlist')),
      },
    );
  }
  return paths.filter(({ operations }) => operations.length > 0);
}

/** Returns the scope of the collection. */
function scopeOf(served: Served, { title, tag }: PathContext, dependencies: PathDependencies): Scope {
  const { namespaced, kind } = served.definition;
  return {
    schemas: dependencies.schemas,
    gvk: served.definition,
    title,
    tag,
    name: `${namespaced ? 'Namespaced' : ''}${kind}`,
    parameters: namespaced ? [inPath('namespace')] : [],
    ...mediaTypesOf(served, dependencies),
    custom: isCustom(served) ? served.definition : undefined,
  };
}

/** Returns the media types of a resource. Encodings that need a generated schema only apply to built-in kinds. */
function mediaTypesOf(served: Served, { encodings, schemas }: PathDependencies) {
  const usable = encodings.filter(({ takesAnyKind }) => takesAnyKind || schemas.knows(served.definition));
  const mediaTypes = usable.map(({ mediaType }) => mediaType);
  const streams = isCustom(served) ? [] : usable.filter(({ streamMediaType }) => streamMediaType !== undefined);
  return {
    mediaTypes,
    watchMediaTypes: [...mediaTypes, ...streams.map(({ mediaType }) => `${mediaType};stream=watch`)],
  };
}

function pathsOfSubresource(
  path: string,
  object: Scope,
  subresourceName: string,
  subresource: SubresourceDefinition,
): ApiPath[] {
  const gvk = subresource.type === 'view' ? (subresource.viewKind ?? object.gvk) : subresource.kind;
  const name = `${object.name}${subresourceName.split('/').map(capitalized).join('')}`;
  const scope = { ...object, gvk, name };
  if (subresource.type === 'handled' && subresource.text) {
    return [{ path, operations: [readText(scope, subresource.text.options)] }];
  }
  if (subresource.type === 'handled' && subresource.connects) return connectPaths(path, scope, subresource);
  const verbs: readonly string[] = subresource.verbs;
  const operations = [
    ...(verbs.includes('get') ? [read(scope)] : []),
    ...(verbs.includes('update') ? [replace(scope)] : []),
    ...(verbs.includes('create') ? [create(scope)] : []),
    ...(verbs.includes('delete') ? [remove(scope, false)] : []),
    ...(verbs.includes('patch') ? [patch(scope)] : []),
  ];
  return operations.length > 0 ? [{ path, operations }] : [];
}

/** Methods in the order of the documents, with their verbs; OPTIONS and HEAD have none. */
const methods = [
  ['get', 'get'],
  ['put', 'update'],
  ['post', 'create'],
  ['delete', 'delete'],
  ['options', undefined],
  ['head', undefined],
  ['patch', 'patch'],
] as const;

/**
 * Returns the paths of a connect subresource. One with all verbs is a proxy: it takes all methods, and has a subpath.
 */
function connectPaths(path: string, object: Scope, { kind, verbs }: HandledSubresource): ApiPath[] {
  const isProxy = methods.every(([, verb]) => verb === undefined || verbs.includes(verb));
  const inQuery = object.schemas.queryOf(kind);
  const operations = (scope: Scope) =>
    methods
      .filter(([, verb]) => (verb === undefined ? isProxy : verbs.includes(verb)))
      .map(([method]) => connect(scope, method, capitalized(method)));
  const here = { ...object, parameters: [...object.parameters, ...inQuery] };
  const below = { ...here, name: `${object.name}WithPath`, parameters: [...here.parameters, subpath] };
  return [
    { path, operations: operations(here) },
    ...(isProxy ? [{ path: `${path}/{path}`, operations: operations(below) }] : []),
  ];
}

/** `rbac.authorization.k8s.io` → `RbacAuthorization`, `rbacAuthorization`. */
function groupNames(group: string, apiDomain: string): { title: string; tag: string } {
  const suffix = `.${apiDomain}`;
  const stem = group === '' ? 'core' : group.endsWith(suffix) ? group.slice(0, -suffix.length) : group;
  const title = stem.split(/[.-]/).map(capitalized).join('');
  return { title, tag: title.charAt(0).toLowerCase() + title.slice(1) };
}
