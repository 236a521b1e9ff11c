import type { ServerResponse } from 'node:http';
import { AggregatedServer } from '../harness/aggregated-server.js';
import { eventually } from '../harness/eventually.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const group = 'hostile.example.com';

interface DiscoveredGroup {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly { readonly freshness: string; readonly resources?: readonly { resource: string }[] }[];
}

let server: TestServer;
let remote: AggregatedServer;
beforeEach(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  remote = await AggregatedServer.start({ group, version: 'v1', resources: [] });
});
afterEach(async () => {
  await server.stop();
  await remote.stop();
});

async function discovered(): Promise<DiscoveredGroup | undefined> {
  const { body } = await server.admin.get('/apis', { accept });
  return (body.items as DiscoveredGroup[]).find(({ metadata }) => metadata.name === group);
}

const send = (text: string | Buffer, type = 'application/json') => ({
  answer(_request: unknown, response: ServerResponse) {
    response.writeHead(200, { 'content-type': type });
    response.end(text);
  },
});
const listType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const ofGroup = (resources: unknown) =>
  JSON.stringify({
    kind: 'APIGroupDiscoveryList',
    items: [{ metadata: { name: group }, versions: [{ version: 'v1', resources }] }],
  });

it.each<[string, string | Buffer]>([
  ['10 MB', Buffer.alloc(10_000_000, ' ')],
  ['text that is not JSON', 'not found'],
  ['a key __proto__', `{"kind":"APIGroupDiscoveryList","items":[],"__proto__":{"polluted":1}}`],
  ['another kind', '{"kind":"PodList","items":[]}'],
  ['deep lists', `${'['.repeat(200_000)}`],
])('discovery of %s is Stale, and other groups stay', async (_what, text) => {
  remote.handlers.set('/apis', send(text, listType).answer);
  await remote.install(server.admin);
  await eventually('the document was read', () => remote.received.some(({ url }) => url === '/apis'));
  await eventually('openapi was read', () => remote.received.some(({ url }) => url === '/openapi/v2'));
  expect((await discovered())?.versions).toEqual([{ version: 'v1', freshness: 'Stale' }]);
  const { body } = await server.admin.get('/apis', { accept });
  expect(body.items.length).toBeGreaterThan(10);
  expect({}).not.toHaveProperty('polluted');
});

it('entries of discovery with invalid names and types are left out', async () => {
  const resources = [
    ...[null, 7, 'widgets', { resource: 7 }, { resource: '../../api/v1/secrets' }, { resource: '' }],
    { resource: 'constructor', verbs: 'get', responseKind: [], scope: 1, subresources: { a: 1 } },
    { resource: 'widgets', verbs: ['get', 1, null], responseKind: { kind: 'Widget' }, scope: 'Namespaced', extra: 1 },
  ];
  remote.handlers.set('/apis', send(ofGroup(resources), listType).answer);
  await remote.install(server.admin);
  await eventually(
    'the resources are discovered',
    async () => (await discovered())?.versions[0]?.freshness === 'Current',
  );
  expect((await discovered())?.versions[0]?.resources).toEqual([
    {
      ...{ resource: 'constructor', responseKind: { group: '', version: '', kind: '' }, scope: 'Cluster' },
      ...{ singularResource: '', verbs: [] },
    },
    {
      ...{ resource: 'widgets', responseKind: { group: '', version: '', kind: 'Widget' }, scope: 'Namespaced' },
      ...{ singularResource: '', verbs: ['get'] },
    },
  ]);
});

it('a server that lists groups of others adds only its own', async () => {
  const items = ['apps', group, 'rbac.authorization.k8s.io'].map((name) => ({
    metadata: { name },
    versions: [{ version: 'v1', resources: [{ resource: 'takeovers', scope: 'Cluster', verbs: ['get'] }] }],
  }));
  remote.handlers.set('/apis', send(JSON.stringify({ kind: 'APIGroupDiscoveryList', items }), listType).answer);
  const paths = Object.fromEntries(
    ['apis/apps/v1', `apis/${group}/v1`].map((name) => [name, { serverRelativeURL: `https://evil/${name}?hash=<a>` }]),
  );
  remote.answers('/openapi/v3', { paths });
  await remote.install(server.admin);
  await eventually(
    'the resources are discovered',
    async () => (await discovered())?.versions[0]?.freshness === 'Current',
  );
  const { body } = await server.admin.get('/apis', { accept });
  const text = JSON.stringify(body.items.filter(({ metadata }: DiscoveredGroup) => metadata.name !== group));
  expect(text).not.toContain('takeovers');
  const index = async () => (await server.admin.get('/openapi/v3')).text;
  await eventually('the index lists the document', async () => (await index()).includes(`apis/${group}/v1`));
  const listed = JSON.parse(await index()).paths as Record<string, { serverRelativeURL: string }>;
  expect(listed[`apis/${group}/v1`]!.serverRelativeURL).toMatch(
    /^\/openapi\/v3\/apis\/hostile\.example\.com\/v1\?hash=[0-9A-F]{64}$/,
  );
  expect(listed['apis/apps/v1']!.serverRelativeURL).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=/);
});

it('OpenAPI v2 is merged with its definitions, and one that cannot be encoded is left out', async () => {
  const own = 'io.k8s.api.core.v1.Pod';
  const path = `${remote.path}/widgets`;
  const response = { description: 'OK', schema: { $ref: `#/definitions/${own}` } };
  const document = (item: unknown) => ({
    swagger: '2.0',
    paths: { [path]: item, '/api/v1/pods': { get: { description: 'taken over' } } },
    definitions: { [own]: { type: 'object', description: 'another Pod' }, unused: { type: 'object' } },
  });
  remote.answers('/openapi/v2', document({ get: { operationId: 'listWidgets', responses: { 200: response } } }));
  await remote.install(server.admin);
  const read = async () => (await server.admin.get('/openapi/v2')).body;
  await eventually('the path is merged', async () => (await read()).paths[path] !== undefined);
  const { paths, definitions } = await read();
  expect(paths[path].get.responses['200'].schema).toEqual({ $ref: `#/definitions/${own}_v2` });
  expect(definitions[`${own}_v2`]).toEqual({ type: 'object', description: 'another Pod' });
  expect(definitions[own].description).not.toBe('another Pod');
  expect(definitions).not.toHaveProperty('unused');
  expect(JSON.stringify(paths['/api/v1/pods'])).not.toContain('taken over');
});

it('requests to a server that hangs do not hold those of other groups', async () => {
  await remote.install(server.admin);
  remote.handlers.set(`${remote.path}/`, () => undefined);
  const waiting = Array.from({ length: 50 }, () => server.admin.open('GET', `${remote.path}/slow`));
  for (const each of waiting) each.catch(() => undefined);
  await eventually(
    'they are forwarded',
    () => remote.received.filter(({ url }) => url.endsWith('/slow')).length === 50,
  );
  expect((await server.admin.get('/api/v1/namespaces')).code).toBe(200);
  expect((await server.admin.get('/apis', { accept })).code).toBe(200);
  await remote.stop();
  for (const each of await Promise.all(waiting)) expect(each.code).toBe(503);
});

it('an answer that breaks off is cut, so that the client does not take it for a whole one', async () => {
  let breakOff: () => void = () => undefined;
  remote.handlers.set(`${remote.path}/half`, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"kind":"Widget"');
    breakOff = () => response.destroy();
  });
  await remote.install(server.admin);
  const answer = await server.admin.open('GET', `${remote.path}/half`);
  answer.body.on('error', () => undefined).resume();
  breakOff();
  expect(await answer.ended).toBe('cut');
});

it('more requests to one APIService than its bound are refused with 429', async () => {
  await server.stop();
  server = await startTestServer(
    { store: 'memory', naming: 'kubernetes' },
    { config: { limits: { aggregatedRequestsMax: 2 } } },
  );
  await remote.install(server.admin);
  remote.handlers.set(`${remote.path}/`, () => undefined);
  const waiting = [1, 2].map(() => server.admin.open('GET', `${remote.path}/slow`));
  for (const each of waiting) each.catch(() => undefined);
  await eventually('they are forwarded', () => remote.received.filter(({ url }) => url.endsWith('/slow')).length === 2);
  expect((await server.admin.get(`${remote.path}/slow`)).code).toBe(429);
});
