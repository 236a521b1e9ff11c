import { anyCustomType } from '../../test/harness/any-custom-type.js';
import { stopServing } from '../../test/harness/stop-serving.js';
import { registryOf, shell } from '../../test/harness/shell.js';
import { Catalog } from '../catalog/catalog.js';
import { standardEncodings } from '../codec/encodings.js';
import { protobufEncoding } from '../codec/protobuf.js';
import { namingProfile } from '../config/naming-profile.js';
import type { GroupVersionKind } from '../machinery/gvk.js';
import type { KubeObject } from '../machinery/kube-object.js';
import { defineResource, type Hub, type ResourceDefinition } from '../registry/definition/resource-definition.js';
import type { Strategy } from '../registry/definition/strategy.js';
import { defaultTable } from '../registry/definition/table.js';
import { storageVersionHash } from './discovery-documents.js';
import { DiscoveryRequests } from './discovery-requests.js';

const strategy: Strategy = { validateName: () => [] };
const lens = {
  type: 'view',
  verbs: ['update', 'get', 'patch'],
  view: (o: KubeObject) => o,
  put: (o: KubeObject) => o,
} as const;
const scale = { ...lens, viewKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' } };

const pods = defineResource({
  ...{ group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true, strategy, table: defaultTable },
  shortNames: ['po'],
  categories: ['all'],
  subresources: {
    status: lens,
    eviction: { type: 'handled', verbs: ['create'], kind: { group: 'policy', version: 'v1', kind: 'Eviction' } },
    binding: { type: 'handled', verbs: ['create'], kind: { group: '', version: 'v1', kind: 'Binding' } },
  },
});
const namespaces = defineResource({
  ...{
    group: '',
    version: 'v1',
    kind: 'Namespace',
    plural: 'namespaces',
    namespaced: false,
    strategy,
    table: defaultTable,
  },
  shortNames: ['ns'],
  verbs: ['watch', 'get', 'create', 'delete', 'list', 'patch', 'update'],
});
const deployments = defineResource({
  ...{
    group: 'apps',
    version: 'v1',
    kind: 'Deployment',
    plural: 'deployments',
    namespaced: true,
    strategy,
    table: defaultTable,
  },
  subresources: { scale },
});
function hubOf(version: string): Hub {
  return { stored: { group: '', version, plural: 'pods' }, toHub: (object) => object, fromHub: (object) => object };
}

const reviews = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  singular: 'tokenreview',
  namespaced: false,
};

const protobuf = protobufEncoding(
  'application/vnd.kubernetes.protobuf',
  () => new Catalog(namingProfile('kubernetes')),
);
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

function discovery(definitions: ResourceDefinition[] = [pods, namespaces, deployments]) {
  const registry = registryOf(definitions, [reviews], { apps: 20 });
  const requests = new DiscoveryRequests({
    registry,
    encodings: [...standardEncodings, protobuf],
    discoveryGroup: 'apidiscovery.k8s.io',
    serverAddress: () => '10.0.0.1:6443',
    otherPaths: () => ['/healthz', '/version'],
  });
  const server = shell((request, reply) => requests.answer(request, reply));
  const get = async (url: string, headers: Record<string, string> = {}, method = 'GET') => {
    const answer = await server.inject({ method: method as 'GET', url, headers });
    return {
      code: answer.statusCode,
      type: answer.headers['content-type'],
      headers: answer.headers,
      text: answer.body,
      bytes: answer.rawPayload,
    };
  };
  const body = async (url: string, headers?: Record<string, string>) =>
    JSON.parse((await get(url, headers)).text) as unknown;
  return { registry, get, body };
}

describe('unaggregated documents', () => {
  const { body } = discovery();
  const v1 = (group: string) => ({ groupVersion: `${group}/v1`, version: 'v1' });
  const group = (name: string) => ({ name, versions: [v1(name)], preferredVersion: v1(name) });

  it('/api lists versions, /apis and /apis/GROUP list groups', async () => {
    expect(await body('/api')).toEqual({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '10.0.0.1:6443' }],
    });
    expect(await body('/apis')).toEqual({
      kind: 'APIGroupList',
      apiVersion: 'v1',
      groups: [group('apps'), group('authentication.k8s.io')],
    });
    expect(await body('/apis/apps')).toEqual({ kind: 'APIGroup', apiVersion: 'v1', ...group('apps') });
  });

  it('APIResourceList contains resources and subresources, sorted by name', async () => {
    expect(await body('/api/v1')).toEqual({
      kind: 'APIResourceList',
      groupVersion: 'v1',
      resources: [
        {
          name: 'namespaces',
          singularName: 'namespace',
          namespaced: false,
          kind: 'Namespace',
          verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
          shortNames: ['ns'],
          storageVersionHash: storageVersionHash(namespaces),
        },
        {
          name: 'pods',
          singularName: 'pod',
          namespaced: true,
          kind: 'Pod',
          verbs: allVerbs,
          shortNames: ['po'],
          categories: ['all'],
          storageVersionHash: 'xPOwRZ+Yhw8=',
        },
        { name: 'pods/binding', singularName: '', namespaced: true, kind: 'Binding', verbs: ['create'] },
        {
          name: 'pods/eviction',
          singularName: '',
          namespaced: true,
          group: 'policy',
          version: 'v1',
          kind: 'Eviction',
          verbs: ['create'],
        },
        { name: 'pods/status', singularName: '', namespaced: true, kind: 'Pod', verbs: ['get', 'patch', 'update'] },
      ],
    });
    expect(await body('/apis/authentication.k8s.io/v1')).toEqual({
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: 'authentication.k8s.io/v1',
      resources: [
        {
          name: 'tokenreviews',
          singularName: 'tokenreview',
          namespaced: false,
          kind: 'TokenReview',
          verbs: ['create'],
        },
      ],
    });
  });

  it('/ lists the paths of the server', async () => {
    expect(await body('/')).toEqual({
      paths: [
        '/api',
        '/api/v1',
        '/apis',
        '/apis/',
        '/apis/apps',
        '/apis/apps/v1',
        '/apis/authentication.k8s.io',
        '/apis/authentication.k8s.io/v1',
        '/healthz',
        '/version',
      ],
    });
  });

  it('is indented if the client asks for it, or is curl', async () => {
    const { get } = discovery();
    expect((await get('/apis/apps?pretty=true')).text).toContain('\n  "kind"');
    expect((await get('/apis/apps')).text).not.toContain('\n');
    expect((await get('/apis/apps', { accept: 'application/yaml' })).text).toContain('kind: APIGroup\n');
  });
});

describe('custom kinds', () => {
  const lamps = defineResource({
    ...{ group: 'shop.example.com', version: 'v1', kind: 'Lamp', plural: 'lamps', namespaced: true, strategy },
    ...{
      table: defaultTable,
      storagePrefix: 'lamps/v1',
      customType: anyCustomType(),
      shortNames: ['lm'],
      categories: ['all'],
    },
    subresources: { scale, status: lens },
  });
  const others = ['v1beta1', 'v2', 'v10', 'v1alpha1', 'first'].map((version) => ({
    ...lamps,
    version,
    storagePrefix: `lamps/${version}`,
    hub: { stored: lamps, toHub: (object: KubeObject) => object, fromHub: (object: KubeObject) => object },
  }));
  const { body } = discovery([lamps, ...others]);
  const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
  const partVerbs = ['get', 'patch', 'update'];
  const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };

  it('APIGroup lists their versions, the preferred one first', async () => {
    const { versions, preferredVersion } = (await body('/apis/shop.example.com')) as {
      versions: { version: string }[];
      preferredVersion: { version: string };
    };
    expect(versions.map(({ version }) => version)).toEqual(['v10', 'v2', 'v1', 'v1beta1', 'v1alpha1', 'first']);
    expect(preferredVersion.version).toBe('v10');
  });

  it.each(['v1', 'v1beta1'])('APIResourceList of %s contains their verbs, status and scale', async (version) => {
    expect(await body(`/apis/shop.example.com/${version}`)).toMatchObject({
      resources: [
        {
          ...{ name: 'lamps', singularName: 'lamp', namespaced: true, kind: 'Lamp', verbs },
          ...{ shortNames: ['lm'], categories: ['all'], storageVersionHash: storageVersionHash(lamps) },
        },
        { name: 'lamps/status', singularName: '', namespaced: true, kind: 'Lamp', verbs: partVerbs },
        { name: 'lamps/scale', singularName: '', namespaced: true, ...scaleKind, verbs: partVerbs },
      ],
    });
  });

  it('omits create, patch and update for a kind whose CRD is being deleted', async () => {
    const ending = discovery([{ ...lamps, strategy: { ...strategy, refusesCreate: 'it ends' } }]);
    const { resources } = (await ending.body('/apis/shop.example.com/v1')) as { resources: object[] };
    expect(resources[0]).toMatchObject({
      verbs: ['delete', 'deletecollection', 'get', 'list', 'watch'],
      storageVersionHash: storageVersionHash(lamps),
    });
  });

  it('the aggregated document contains them', async () => {
    const { items } = (await body('/apis', { accept: aggregated })) as {
      items: { metadata: { name: string }; versions: { version: string; resources: object[] }[] }[];
    };
    const { versions = [] } = items.find(({ metadata }) => metadata.name === 'shop.example.com') ?? {};
    expect(versions.find(({ version }) => version === 'v2')?.resources).toEqual([
      {
        ...{ resource: 'lamps', singularResource: 'lamp', scope: 'Namespaced', verbs },
        ...{ shortNames: ['lm'], categories: ['all'] },
        responseKind: { group: 'shop.example.com', version: 'v2', kind: 'Lamp' },
        subresources: [
          {
            subresource: 'status',
            responseKind: { group: 'shop.example.com', version: 'v2', kind: 'Lamp' },
            verbs: partVerbs,
          },
          { subresource: 'scale', responseKind: scaleKind, verbs: partVerbs },
        ],
      },
    ]);
  });
});

describe('protobuf', () => {
  const { get, body } = discovery();

  it.each(['/api', '/apis', '/api/v1', '/apis/apps', '/apis/apps/v1'])(
    '%s has the same content as in JSON',
    async (url) => {
      const { type, bytes } = await get(url, { accept: protobuf.mediaType });
      expect(type).toBe(protobuf.mediaType);
      expect(protobuf.decode(bytes).value).toMatchObject({ apiVersion: 'v1', ...((await body(url)) as object) });
    },
  );
});

it.each<[string, Partial<ResourceDefinition>, GroupVersionKind | undefined]>([
  ['the storage version', {}, pods],
  ['the storage version of a served version that is converted', { hub: hubOf('v9') }, { ...pods, version: 'v9' }],
  ['nothing for a resource without create', { verbs: ['get', 'list'] }, undefined],
])('storageVersionHash is computed from %s', async (_, given, want) => {
  const { resources } = (await discovery([{ ...pods, ...given }]).body('/api/v1')) as { resources: object[] };
  expect(resources[0]).toMatchObject({ name: 'pods' });
  expect((resources[0] as { storageVersionHash?: string }).storageVersionHash).toBe(want && storageVersionHash(want));
});

describe('the aggregated document', () => {
  const { registry, get, body } = discovery();

  it('contains all groups, with subresources inside their resources', async () => {
    expect(await body('/apis', { accept: aggregated })).toEqual({
      kind: 'APIGroupDiscoveryList',
      apiVersion: 'apidiscovery.k8s.io/v2',
      metadata: {},
      items: [
        {
          metadata: { name: 'apps' },
          versions: [
            {
              version: 'v1',
              freshness: 'Current',
              resources: [
                {
                  resource: 'deployments',
                  responseKind: { group: '', version: '', kind: 'Deployment' },
                  scope: 'Namespaced',
                  singularResource: 'deployment',
                  verbs: allVerbs,
                  subresources: [
                    {
                      subresource: 'scale',
                      responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
                      verbs: ['get', 'patch', 'update'],
                    },
                  ],
                },
              ],
            },
          ],
        },
        {
          metadata: { name: 'authentication.k8s.io' },
          versions: [
            {
              version: 'v1',
              freshness: 'Current',
              resources: [
                {
                  resource: 'tokenreviews',
                  responseKind: { group: '', version: '', kind: 'TokenReview' },
                  scope: 'Cluster',
                  singularResource: 'tokenreview',
                  verbs: ['create'],
                },
              ],
            },
          ],
        },
      ],
    });
    expect(await body('/api', { accept: aggregated })).toMatchObject({
      items: [{ metadata: {}, versions: [{ version: 'v1' }] }],
    });
  });

  it('has a content type with as=APIGroupDiscoveryList, an ETag and Cache-Control', async () => {
    const first = await get('/apis', { accept: aggregated });
    expect(first.headers).toMatchObject({ 'content-type': aggregated, 'cache-control': 'public', vary: 'Accept' });
    const etag = first.headers['etag'] as string;
    expect(etag).toMatch(/^"[0-9A-F]{64}"$/);
    const again = await get('/apis', { accept: aggregated, 'if-none-match': etag });
    const { 'content-type': type, 'content-length': length } = again.headers;
    expect([again.code, again.text, again.headers['etag'], type, length]).toEqual([
      304,
      '',
      etag,
      undefined,
      undefined,
    ]);
    expect((await get('/apis', { accept: aggregated, 'if-none-match': '"other"' })).code).toBe(200);
  });

  it('changes with its ETag when the served resources change', async () => {
    const before = (await get('/apis', { accept: aggregated })).headers['etag'];
    stopServing(registry, 'apps', 'v1');
    const after = await get('/apis', { accept: aggregated, 'if-none-match': before as string });
    expect(after.code).toBe(200);
    expect(after.text).not.toContain('deployments');
    expect((await get('/apis/apps')).code).toBe(404);
  });
});

describe('the Accept header', () => {
  const { get } = discovery();
  const plain = 'application/json';
  it.each([
    ['/apis', `${aggregated.replace('v2', 'v2beta1')},${plain}`, 200, plain],
    ['/apis', `${aggregated},${plain}`, 200, aggregated],
    ['/apis', `${aggregated};profile=nopeer`, 200, aggregated],
    ['/api', aggregated.replace('v2', 'v9'), 406, plain],
    ['/apis/apps', aggregated, 406, plain],
    ['/api', 'application/yaml', 200, 'application/yaml'],
    ['/api', '*/*', 200, plain],
    ['/api/v1', 'application/json;as=Table;g=meta.k8s.io;v=v1', 406, plain],
    ['/api/v1', 'application/xml', 406, plain],
  ])('GET %s with Accept %s answers %i', async (url, accept, code, type) => {
    const answer = await get(url, { accept });
    expect([answer.code, answer.type]).toEqual([code, type]);
  });

  it('406 names the available media types', async () => {
    expect((await get('/api', { accept: 'text/html;q=0.9' })).text).toContain(
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    );
    expect((await get('/api/v1', { accept: 'application/xml' })).text).toContain(
      '406: Not Acceptable\\n\\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    );
  });
});

describe('paths and methods', () => {
  const { get } = discovery();
  const status = 'application/json';
  const page = 'text/plain; charset=utf-8';
  it.each([
    ['GET', '/api/', 200, status],
    ['GET', '/api/v1/', 200, status],
    ['GET', '/apis/apps/', 200, status],
    ['GET', '/%61pi', 200, status],
    ['GET', '/api/v2', 404, status],
    ['GET', '/apis/apps/v2', 404, status],
    ['GET', '/apis/nothing', 404, page],
    ['GET', '/apis/nothing.example.com/v1', 404, page],
    ['GET', '/API', 404, page],
    ['GET', '/apis//v1', 404, page],
    ['GET', '/api//', 404, page],
    ['POST', '/', 200, status],
    ['POST', '/apis', 200, status],
    ['DELETE', '/apis/apps', 200, status],
    ['HEAD', '/apis', 200, status],
    ['HEAD', '/api', 405, status],
    ['PUT', '/api/v1', 405, status],
    ['OPTIONS', '/apis/apps/v1', 405, status],
  ])('%s %s answers %i', async (method, url, code, type) => {
    const answer = await get(url, {}, method);
    expect([answer.code, answer.type]).toEqual([code, type]);
    if (method === 'HEAD') expect(answer.text).toBe('');
  });
});

it.each([
  ['apps', 'v1', 'ControllerRevision', '85nkx63pcBU='],
  ['autoscaling', 'v2', 'HorizontalPodAutoscaler', 'qwQve8ut294='],
  ['', 'v1', 'Event', 'r2yiGXH7wu8='],
])('storageVersionHash of %s/%s %s equals the one of kube-apiserver', (group, version, kind, want) => {
  expect(storageVersionHash({ group, version, kind })).toBe(want);
});
