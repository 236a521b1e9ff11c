import { noOpinion, type Authorizer } from '../../src/auth/authorizer.js';
import { AuthorizerChain, type LiveAuthorizers } from '../../src/auth/authorizer-chain.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { configMap } from './case.js';

// Values that other programs wrote into the store and that no server can decode.
const memory = { store: 'memory', naming: 'kubernetes' } as const;
const configMaps = '/api/v1/namespaces/default/configmaps';
const option = 'ignoreStoreReadErrorWithClusterBreakingPotential';
const unsafe = `${option}=true`;

let store: KvStore;
let server: TestServer;
let admin: HttpClient;

async function start(isEnabled: boolean): Promise<void> {
  store = new MemoryStore();
  const config = { featureGates: { AllowUnsafeMalformedObjectDeletion: isEnabled } };
  server = await startTestServer(memory, { config, store, reconciles: false });
  admin = server.client(server.keelson.client);
}

afterEach(async () => {
  await server.stop();
  await store.close();
});

/** Replaces the value of an object by garbage, and waits until the server has seen it. */
async function spoil(name: string): Promise<string> {
  expect((await admin.post(configMaps, configMap(name, { metadata: { finalizers: ['example.com/f'] } }))).code).toBe(
    201,
  );
  const key = `/registry/configmaps/default/${name}`;
  const { item } = await store.get(key);
  const written = await store.txn(
    [{ key, modRevision: item!.modRevision }],
    [{ type: 'put', key, value: Buffer.from('\u0000no object') }],
  );
  expect(written.succeeded).toBe(true);
  expect((await admin.get(`${configMaps}/${name}`)).code).toBe(500);
  return key;
}

describe('an unreadable object, with the deletion option enabled', () => {
  beforeEach(() => start(true));

  it('is deleted only with ignoreStoreReadErrorWithClusterBreakingPotential', async () => {
    const key = await spoil('a');
    expect((await admin.delete(`${configMaps}/a`)).code).toBe(500);
    expect((await store.get(key)).item).toBeDefined();

    const { code, body } = await admin.delete(`${configMaps}/a`, {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      [option]: true,
    });
    expect([code, body]).toMatchObject([
      200,
      { kind: 'Status', status: 'Success', details: { name: 'a', kind: 'ConfigMap' } },
    ]);
    expect((await store.get(key)).item).toBeUndefined();
    expect((await admin.get(`${configMaps}/a`)).code).toBe(404);
    expect((await admin.post(configMaps, configMap('a'))).code).toBe(201);
    expect((await admin.get(configMaps)).code).toBe(200);
  });

  it.each([
    'dryRun=All',
    'gracePeriodSeconds=0',
    'orphanDependents=false',
    'propagationPolicy=Background',
    'uid=11111111-1111-1111-1111-111111111111',
  ])('is not deleted if %s is requested too', async (other) => {
    const key = await spoil('a');
    const { code, body } = await admin.delete(`${configMaps}/a?${unsafe}&${other}`);
    expect([code, body]).toMatchObject([422, { reason: 'Invalid', details: { causes: [{ field: option }] } }]);
    expect((await store.get(key)).item).toBeDefined();
  });

  it('requires the verb unsafe-delete-ignore-read-errors', async () => {
    const key = await spoil('a');
    const rights = new Set(['impersonate', 'delete']);
    const those: Authorizer = {
      name: 'those',
      authorize: ({ verb }) => (rights.has(verb) ? { decision: 'allow', reason: '' } : noOpinion),
    };
    const live = server.keelson.components.authorizers as LiveAuthorizers;
    live.replace(new AuthorizerChain([...live.chain.authorizers, those]), () => undefined);
    const asEve = () =>
      admin.request('DELETE', `${configMaps}/a?${unsafe}`, { headers: { 'impersonate-user': 'eve' } });
    const refused = await asEve();
    expect([refused.code, refused.body.message]).toEqual([
      403,
      'configmaps "a" is forbidden: not permitted to do "unsafe-delete-ignore-read-errors", reason: ',
    ]);
    expect((await store.get(key)).item).toBeDefined();

    rights.add('unsafe-delete-ignore-read-errors');
    expect((await asEve()).code).toBe(200);
  });

  it('the option does not delete readable objects', async () => {
    await admin.post(configMaps, configMap('b'));
    const { code, body } = await admin.delete(`${configMaps}/b?${unsafe}`);
    expect([code, body]).toMatchObject([422, { reason: 'Invalid', details: { causes: [{ field: option }] } }]);
    expect((await admin.get(`${configMaps}/b`)).code).toBe(200);
    expect((await admin.delete(`${configMaps}/none?${unsafe}`)).code).toBe(404);
  });

  it('is not deleted by deletecollection', async () => {
    const key = await spoil('a');
    expect((await admin.delete(`${configMaps}?${unsafe}`)).code).toBe(422);
    expect((await store.get(key)).item).toBeDefined();
  });
});

it('an unreadable object cannot be deleted with the feature disabled', async () => {
  await start(false);
  const key = await spoil('a');
  expect((await admin.delete(`${configMaps}/a?${unsafe}`)).code).toBe(500);
  expect((await store.get(key)).item).toBeDefined();
});

it('a token of a ServiceAccount that cannot be read is refused (401)', async () => {
  await start(false);
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  await admin.post(accounts, { metadata: { name: 'a' } });
  const { body } = await admin.post(`${accounts}/a/token`, { spec: {} });
  const pod = server.client({ token: (body as { status: { token: string } }).status.token });
  const review = () => pod.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
  expect((await review()).code).toBe(201);
  const key = '/registry/serviceaccounts/default/a';
  await store.txn([], [{ type: 'put', key, value: Buffer.from('\u0000no object') }]);
  expect((await admin.get(`${accounts}/a`)).code).toBe(500);
  expect((await review()).code).toBe(401);
});
