import { gunzipSync } from 'node:zlib';
import { registryOf, shell } from '../../test/harness/shell.js';
import { stopServing } from '../../test/harness/stop-serving.js';
import { Catalog } from '../catalog/catalog.js';
import { standardEncodings } from '../codec/encodings.js';
import { namingProfile } from '../config/naming-profile.js';
import type { KubeObject } from '../machinery/kube-object.js';
import { defineResource, type ResourceDefinition } from '../registry/definition/resource-definition.js';
import type { Strategy } from '../registry/definition/strategy.js';
import { defaultTable } from '../registry/definition/table.js';
import { systemClock } from '../std/clock.js';
import { patchTypes } from '../verbs/patch.js';
import { OpenApiRequests } from '../endpoints/openapi-requests.js';

const strategy: Strategy = { validateName: () => [] };
const lens = {
  type: 'view',
  verbs: ['get', 'update', 'patch'],
  view: (o: KubeObject) => o,
  put: (o: KubeObject) => o,
} as const;

const pods = defineResource({
  ...{ group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true, strategy, table: defaultTable },
  returnsDeletedObject: true,
  subresources: {
    status: lens,
    eviction: { type: 'handled', verbs: ['create'], kind: { group: 'policy', version: 'v1', kind: 'Eviction' } },
    exec: {
      ...{ type: 'handled', verbs: ['create', 'get'], connects: true },
      kind: { group: '', version: 'v1', kind: 'PodExecOptions' },
    },
    proxy: {
      ...{ type: 'handled', verbs: ['get', 'update', 'create', 'delete', 'patch'], connects: true },
      kind: { group: '', version: 'v1', kind: 'PodProxyOptions' },
    },
    log: {
      ...{ type: 'handled', verbs: ['get'], kind: { group: '', version: 'v1', kind: 'Pod' }, connects: true },
      text: { options: { group: '', version: 'v1', kind: 'PodLogOptions' } },
    },
  },
});
const namespaces = defineResource({
  ...{ group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false, strategy },
  table: defaultTable,
  verbs: ['watch', 'get', 'create', 'delete', 'list', 'patch', 'update'],
  subresources: { finalize: { ...lens, verbs: ['update'] } },
});
const roles = defineResource({
  ...{ group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'Role', plural: 'roles', namespaced: true, strategy },
  table: defaultTable,
});
const widgets = defineResource({
  ...{ group: 'shop.example.com', version: 'v2', kind: 'Widget', plural: 'widgets', namespaced: false, strategy },
  table: defaultTable,
});
const reviews = {
  ...{ group: 'authorization.k8s.io', version: 'v1', kind: 'LocalSubjectAccessReview' },
  ...{ plural: 'localsubjectaccessreviews', singular: 'localsubjectaccessreview', namespaced: true },
};

interface Parameter {
  name?: string;
  $ref?: string;
}
interface Item {
  parameters?: Parameter[];
  [method: string]: unknown;
}
interface Operation {
  operationId: string;
  parameters?: Parameter[];
  'x-kubernetes-action'?: string;
  'x-kubernetes-group-version-kind'?: object;
  requestBody?: { content: Record<string, unknown> };
  responses: Record<string, { content?: Record<string, { schema: unknown }>; schema?: unknown }>;
}
interface Document {
  paths: Record<string, Item>;
  components: { schemas: Record<string, Record<string, unknown>> };
  definitions: Record<string, Record<string, unknown>>;
}

function openApi(definitions: ResourceDefinition[] = [pods, namespaces, roles, widgets]) {
  const registry = registryOf(definitions, [reviews]);
  const requests = new OpenApiRequests({
    registry,
    encodings: standardEncodings,
    catalog: new Catalog(namingProfile('kubernetes')),
    apiDomain: 'k8s.io',
    apiName: 'kubernetes',
    serverPaths: ['version'],
    clock: { ...systemClock, now: () => Date.UTC(2030, 0, 1) },
  });
  const server = shell((request, reply) => requests.answer(request, reply));
  const get = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' | 'POST' = 'GET') =>
    server.inject({ method, url, headers });
  const document = async (url: string) => (await get(url)).json<Document>();
  const index = async () =>
    (await get('/openapi/v3')).json<{ paths: Record<string, { serverRelativeURL: string }> }>().paths;
  return { registry, get, document, index };
}

/** Names of parameters, without the hash of shared ones: `limit-1a2b3c4d`. */
const namesOf = (parameters: readonly Parameter[] = []) =>
  parameters.map(({ name, $ref }) => name ?? $ref?.slice('#/parameters/'.length, -'-12345678'.length));

/** `GET readCoreV1Pod get | own parameters | codes` */
function linesOf(item: Item | undefined): string[] {
  return Object.entries(item ?? {})
    .filter(([method]) => method !== 'parameters')
    .map(([method, operation]) => {
      const { operationId, parameters, responses, ...rest } = operation as Operation;
      const own = namesOf(parameters).filter((name) => name !== 'body');
      return [
        `${method} ${operationId} ${rest['x-kubernetes-action'] ?? ''}`,
        own.join(),
        Object.keys(responses).join(),
      ].join(' | ');
    });
}

/** Documents list only text media types. */
const textPatchTypes = Object.keys(patchTypes)
  .filter((mediaType) => !mediaType.endsWith('+cbor'))
  .sort();

const listing =
  'allowWatchBookmarks,continue,fieldSelector,labelSelector,limit,resourceVersion,resourceVersionMatch,sendInitialEvents,shardSelector,timeoutSeconds,watch';
const deleting = 'dryRun,gracePeriodSeconds,ignoreStoreReadErrorWithClusterBreakingPotential,orphanDependents';
const writing = 'dryRun,fieldManager,fieldValidation';

/** [path, parameters of all its operations, operations] */
const paths: [string, string, string[]][] = [
  ['/api/v1/', '', ['get getCoreV1APIResources  |  | 200,401']],
  [
    '/api/v1/namespaces/{namespace}/pods',
    'namespace,pretty',
    [
      `get listCoreV1NamespacedPod list | ${listing} | 200,401`,
      `post createCoreV1NamespacedPod post | ${writing} | 200,201,202,401`,
      'delete deleteCoreV1CollectionNamespacedPod deletecollection | continue,dryRun,fieldSelector,gracePeriodSeconds,ignoreStoreReadErrorWithClusterBreakingPotential,labelSelector,limit,orphanDependents,propagationPolicy,resourceVersion,resourceVersionMatch,sendInitialEvents,shardSelector,timeoutSeconds | 200,401',
    ],
  ],
  [
    '/api/v1/namespaces/{namespace}/pods/{name}',
    'name,namespace,pretty',
    [
      'get readCoreV1NamespacedPod get |  | 200,401',
      `put replaceCoreV1NamespacedPod put | ${writing} | 200,201,401`,
      `delete deleteCoreV1NamespacedPod delete | ${deleting},propagationPolicy | 200,202,401`,
      `patch patchCoreV1NamespacedPod patch | ${writing},force | 200,201,401`,
    ],
  ],
  [
    '/api/v1/namespaces/{namespace}/pods/{name}/status',
    'name,namespace,pretty',
    [
      'get readCoreV1NamespacedPodStatus get |  | 200,401',
      `put replaceCoreV1NamespacedPodStatus put | ${writing} | 200,201,401`,
      `patch patchCoreV1NamespacedPodStatus patch | ${writing},force | 200,201,401`,
    ],
  ],
  [
    '/api/v1/namespaces/{namespace}/pods/{name}/eviction',
    `${writing},name,namespace,pretty`,
    ['post createCoreV1NamespacedPodEviction post |  | 200,201,202,401'],
  ],
  [
    '/api/v1/namespaces/{namespace}/pods/{name}/exec',
    'command,container,name,namespace,stderr,stdin,stdout,tty',
    [
      'get connectCoreV1GetNamespacedPodExec connect |  | 200,401',
      'post connectCoreV1PostNamespacedPodExec connect |  | 200,401',
    ],
  ],
  [
    '/api/v1/namespaces/{namespace}/pods/{name}/proxy/{path}',
    'name,namespace,path,path',
    ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'].map(
      (method) =>
        `${method} connectCoreV1${method[0]!.toUpperCase()}${method.slice(1)}NamespacedPodProxyWithPath connect |  | 200,401`,
    ),
  ],
  [
    '/api/v1/namespaces/{namespace}/pods/{name}/log',
    'container,follow,insecureSkipTLSVerifyBackend,limitBytes,name,namespace,pretty,previous,sinceSeconds,stream,tailLines,timestamps',
    ['get readCoreV1NamespacedPodLog get |  | 200,401'],
  ],
  [
    '/api/v1/pods',
    'allowWatchBookmarks,continue,fieldSelector,labelSelector,limit,pretty,resourceVersion,resourceVersionMatch,sendInitialEvents,shardSelector,timeoutSeconds,watch',
    ['get listCoreV1PodForAllNamespaces list |  | 200,401'],
  ],
  [
    '/api/v1/namespaces',
    'pretty',
    [
      `get listCoreV1Namespace list | ${listing} | 200,401`,
      `post createCoreV1Namespace post | ${writing} | 200,201,202,401`,
    ],
  ],
  [
    '/api/v1/namespaces/{name}/finalize',
    `${writing},name,pretty`,
    ['put replaceCoreV1NamespaceFinalize put |  | 200,201,401'],
  ],
  [
    '/api/v1/watch/namespaces/{namespace}/pods/{name}',
    'allowWatchBookmarks,continue,fieldSelector,labelSelector,limit,name,namespace,pretty,resourceVersion,resourceVersionMatch,sendInitialEvents,shardSelector,timeoutSeconds,watch',
    ['get watchCoreV1NamespacedPod watch |  | 200,401'],
  ],
];

describe('paths', () => {
  const { document } = openApi();

  it.each(paths)('operations of %s', async (path, common, lines) => {
    for (const url of ['/openapi/v3/api/v1', '/openapi/v2']) {
      const item = (await document(url)).paths[path];
      expect(namesOf(item?.parameters)).toEqual(common === '' ? [] : common.split(','));
      expect(linesOf(item)).toEqual(lines);
    }
  });

  it.each([
    [
      'rbac.authorization.k8s.io/v1',
      '/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles/{name}',
      'readRbacAuthorizationV1NamespacedRole',
    ],
    ['shop.example.com/v2', '/apis/shop.example.com/v2/widgets/{name}', 'readShopExampleComV2Widget'],
    ['rbac.authorization.k8s.io', '/apis/rbac.authorization.k8s.io/', 'getRbacAuthorizationAPIGroup'],
  ])('operation ids of %s at %s contain the group and version', async (name, path, id) => {
    const { paths } = await document(`/openapi/v3/apis/${name}`);
    expect(linesOf(paths[path])[0]).toMatch(`get ${id} `);
  });

  it('virtual resources have create only', async () => {
    const { paths } = await document('/openapi/v3/apis/authorization.k8s.io/v1');
    const path = '/apis/authorization.k8s.io/v1/namespaces/{namespace}/localsubjectaccessreviews';
    expect(Object.keys(paths)).toEqual(['/apis/authorization.k8s.io/v1/', path]);
    expect(linesOf(paths[path])).toEqual([
      'post createAuthorizationV1NamespacedLocalSubjectAccessReview post |  | 200,201,202,401',
    ]);
  });
});

describe('operations', () => {
  const { document } = openApi();
  const operation = async (path: string, method: string) =>
    (await document('/openapi/v3/api/v1')).paths[`/api/v1/namespaces/{namespace}/pods${path}`]?.[method] as Operation;
  const widget = async (method: string) =>
    (await document('/openapi/v3/apis/shop.example.com/v2')).paths['/apis/shop.example.com/v2/widgets/{name}']?.[
      method
    ] as Operation;

  it('name their kind, and the media types of a patch', async () => {
    const patch = await operation('/{name}', 'patch');
    expect(patch['x-kubernetes-group-version-kind']).toEqual({ group: '', version: 'v1', kind: 'Pod' });
    expect(patch.parameters).toContainEqual({
      ...{ name: 'fieldValidation', in: 'query' },
      schema: { type: 'string', uniqueItems: true },
    });
    expect(Object.keys(patch.requestBody!.content)).toEqual(textPatchTypes);
    const eviction = await operation('/{name}/eviction', 'post');
    expect(eviction['x-kubernetes-group-version-kind']).toEqual({ group: 'policy', version: 'v1', kind: 'Eviction' });
  });

  it('omit strategic merge patch for a kind without a known schema', async () => {
    const types = Object.keys((await widget('patch')).requestBody!.content);
    expect(types).toEqual(textPatchTypes.filter((mediaType) => !mediaType.includes('/strategic-merge')));
  });

  it('list the media types of responses', async () => {
    const types = async (path: string, method: string) =>
      Object.keys((await operation(path, method)).responses['200']!.content!);
    const plain = standardEncodings.map(({ mediaType }) => mediaType);
    const streams = standardEncodings.filter(({ streamMediaType }) => streamMediaType !== undefined);
    expect(await types('/{name}', 'get')).toEqual([...plain].sort());
    expect(await types('', 'get')).toEqual(
      [...plain, ...streams.map(({ mediaType }) => `${mediaType};stream=watch`)].sort(),
    );
    expect(await types('/{name}/log', 'get')).toEqual([...plain, 'text/plain'].sort());
  });

  it('have fieldValidation inline in v2, and references to other parameters', async () => {
    const { paths } = await document('/openapi/v2');
    const { parameters } = paths['/api/v1/namespaces/{namespace}/pods/{name}']!['patch'] as Operation;
    expect(parameters).toContainEqual({ uniqueItems: true, type: 'string', name: 'fieldValidation', in: 'query' });
    expect(parameters).toContainEqual({ $ref: expect.stringMatching(/^#.parameters.fieldManager-[-\w]{8}$/) });
  });
});

describe('schemas', () => {
  const { document } = openApi();

  it('preserve unknown fields for a kind that the catalog does not contain', async () => {
    const { components } = await document('/openapi/v3/apis/shop.example.com/v2');
    const widget = components.schemas['com.example.shop.v2.Widget']!;
    expect(Object.keys(widget['properties'] as object)).toEqual(['apiVersion', 'kind', 'metadata']);
    expect(widget).toMatchObject({
      'x-kubernetes-preserve-unknown-fields': true,
      'x-kubernetes-group-version-kind': [{ group: 'shop.example.com', version: 'v2', kind: 'Widget' }],
    });
  });

  it.each([
    ['/openapi/v3/apis/shop.example.com/v2', ['v1', 'shop.example.com/v2']],
    ['/openapi/v3/api/v1', ['v1']],
  ])('DeleteOptions lists the group and version of %s', async (url, want) => {
    const { components } = await document(url);
    const kinds = components.schemas['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions']![
      'x-kubernetes-group-version-kind'
    ] as { group: string; version: string; kind: string }[];
    expect(kinds.map(({ group, version }) => (group === '' ? version : `${group}/${version}`))).toEqual(want);
    expect(kinds.every(({ kind }) => kind === 'DeleteOptions')).toBe(true);
  });

  it('are named by the package of their kind', async () => {
    const named = Object.entries((await document('/openapi/v2')).definitions)
      .filter(([name, schema]) => !name.includes('.meta.') && 'x-kubernetes-group-version-kind' in schema)
      .map(([name]) => name);
    expect(named).toEqual([
      'com.example.shop.v2.Widget',
      'com.example.shop.v2.WidgetList',
      'io.k8s.api.authorization.v1.LocalSubjectAccessReview',
      'io.k8s.api.core.v1.Namespace',
      'io.k8s.api.core.v1.NamespaceList',
      'io.k8s.api.core.v1.Pod',
      'io.k8s.api.core.v1.PodList',
      'io.k8s.api.policy.v1.Eviction',
      'io.k8s.api.rbac.v1.Role',
      'io.k8s.api.rbac.v1.RoleList',
    ]);
  });

  it('exist for every reference, and none without one', async () => {
    const { index } = openApi();
    for (const url of ['/openapi/v2', ...Object.keys(await index()).map((name) => `/openapi/v3/${name}`)]) {
      const read = await document(url);
      const at = url === '/openapi/v2' ? '#/definitions/' : '#/components/schemas/';
      const refs = JSON.stringify(read)
        .match(/"\$ref":"[^"]+"/g)!
        .map((ref) => ref.slice(8, -1))
        .filter((ref) => !ref.startsWith('#/parameters/'));
      const known = Object.keys(read.definitions ?? read.components.schemas);
      expect([...new Set(refs)].sort()).toEqual(known.map((name) => at + name));
    }
  });
});

describe('the index', () => {
  it('lists a document for each root, group and version', async () => {
    const { index, get } = openApi();
    expect(Object.keys(await index())).toEqual([
      'api',
      'api/v1',
      'apis',
      'apis/authorization.k8s.io',
      'apis/authorization.k8s.io/v1',
      'apis/rbac.authorization.k8s.io',
      'apis/rbac.authorization.k8s.io/v1',
      'apis/shop.example.com',
      'apis/shop.example.com/v2',
      'version',
    ]);
    expect((await get('/openapi/v3')).headers['content-type']).toBe('text/plain; charset=utf-8');
    for (const { serverRelativeURL } of Object.values(await index())) {
      expect((await get(serverRelativeURL)).statusCode).toBe(200);
    }
  });

  it('has the same hash for documents that did not change', async () => {
    const { index, get, registry } = openApi();
    const [before, v2] = [await index(), (await get('/openapi/v2')).headers['etag']];
    stopServing(registry, 'shop.example.com', 'v2');
    const after = await index();
    expect(after['api/v1']).toEqual(before['api/v1']);
    expect(after['apis/shop.example.com/v2']).toBeUndefined();
    expect((await get(before['apis/shop.example.com/v2']!.serverRelativeURL)).statusCode).toBe(404);
    expect((await get('/openapi/v2')).headers['etag']).not.toBe(v2);
  });
});

describe('responses', () => {
  const { get, index } = openApi();

  it('are immutable with the right hash in the URL, and redirected with a wrong one', async () => {
    const { serverRelativeURL } = (await index())['api/v1']!;
    const right = await get(serverRelativeURL);
    expect(right.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'public, immutable',
      expires: 'Wed, 01 Jan 2031 00:00:00 GMT',
      vary: 'Accept',
      etag: `"${serverRelativeURL.split('=')[1]}"`,
    });
    const unsaid = await get('/openapi/v3/api/v1');
    expect(unsaid.headers).toMatchObject({ 'cache-control': 'no-cache, private' });
    const wrong = await get('/openapi/v3/api/v1?hash=ABC');
    expect([wrong.statusCode, wrong.headers['location']]).toEqual([301, serverRelativeURL]);
  });

  it.each(['/openapi/v2', '/openapi/v3/api/v1'])('are 304 if If-None-Match contains the ETag: %s', async (url) => {
    const etag = String((await get(url)).headers['etag']);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      expect((await get(url, { 'if-none-match': known })).statusCode).toBe(304);
    }
    expect((await get(url, { 'if-none-match': '"other"' })).statusCode).toBe(200);
  });

  const message = (version: string, separator: string) =>
    `application/com.github.proto-openapi.spec.${version}${separator}v1.0+protobuf`;

  it.each([
    ['application/json', 'json'],
    ['application/*', 'json'],
    ['*/*', 'json'],
    ['application/xml', undefined],
    ['PROTO@', 'protobuf'],
    ['PROTO.', 'protobuf'],
    ['PROTO@, application/json;q=0.5', 'protobuf'],
    ['application/xml, */*;q=0.1', 'json'],
  ])('are encoded as Accept asks: %s', async (accept, form) => {
    for (const [version, url] of [
      ['v2', '/openapi/v2'],
      ['v3', '/openapi/v3/api/v1'],
    ] as const) {
      const answer = await get(url, { accept: accept.replace(/PROTO(.)/, (_, at: string) => message(version, at)) });
      expect(answer.statusCode).toBe(form ? 200 : 406);
      const types: Record<string, string> = { json: 'application/json', protobuf: message(version, '.') };
      expect(answer.headers['content-type']).toBe(form && types[form]);
      if (form === 'protobuf') expect(answer.rawPayload.subarray(0, 5).toString('latin1')).toMatch(/^\n\x03|^\n\x05/);
    }
  });

  it('are compressed in v2 if the client accepts gzip', async () => {
    const plain = await get('/openapi/v2', { 'accept-encoding': 'gzip;q=0, deflate' });
    expect(plain.headers).toMatchObject({ vary: 'Accept-Encoding, Accept', etag: expect.stringMatching(/^"\w+"$/) });
    expect(plain.headers['content-encoding']).toBeUndefined();
    for (const accepted of ['gzip', 'deflate, gzip;q=0.5', 'gzip, br']) {
      const small = await get('/openapi/v2', { 'accept-encoding': accepted });
      expect(small.headers['content-encoding']).toBe('gzip');
      expect(gunzipSync(small.rawPayload).equals(plain.rawPayload)).toBe(true);
      expect(small.rawPayload.length).toBeLessThan(plain.rawPayload.length / 5);
    }
  });

  it.each([
    ['/openapi/v3/apis/nobody', 'GET', 404, undefined],
    ['/openapi/v3/api/v1/more', 'GET', 404, undefined],
    ['/openapi/v3/__proto__', 'GET', 404, undefined],
    ['/openapi/v3/', 'GET', 404, undefined],
    ['/openapi/v2', 'POST', 200, 'application/json'],
    ['/openapi/v3/api/v1', 'HEAD', 200, 'application/json'],
    ['/openapi/v3/version?hash=0000', 'GET', 301, 'application/json'],
  ] as const)('%s %s is %d', async (url, method, code, type) => {
    const answer = await get(url, {}, method);
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([code, type]);
    if (code !== 200) expect(answer.body).toBe('');
  });
});
