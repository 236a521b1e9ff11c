import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import { encryptionOf, EncryptionFile, identity, keyed } from '../harness/encryption.js';
import { eventually } from '../harness/eventually.js';
import type { HttpClient } from '../harness/http-client.js';
import { KmsPluginProcess } from '../harness/kms-plugin.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const memory = { store: 'memory', naming: 'kubernetes' } as const;
const secrets = '/api/v1/namespaces/default/secrets';
const configMaps = '/api/v1/namespaces/default/configmaps';
const keyOf = (name: string) => `/registry/secrets/default/${name}`;

let plugin: KmsPluginProcess;
let file: EncryptionFile;
let store: KvStore;
let servers: TestServer[];
let admin: HttpClient;

beforeEach(() => {
  plugin = new KmsPluginProcess();
  file = new EncryptionFile();
  store = new MemoryStore();
  servers = [];
});
afterEach(async () => {
  for (const server of servers) await server.stop();
  await store.close();
  file.remove();
  await plugin.stop();
});

/** Starts one more server on the store, which `admin` then calls. */
async function start(reloads = false): Promise<TestServer> {
  const config = { storage: { ...file.config(reloads), mediaType: 'application/vnd.kubernetes.protobuf' } };
  const server = await startTestServer(memory, { config, store });
  servers.push(server);
  admin = server.client(server.keelson.client);
  return server;
}

async function restart(reloads = false): Promise<TestServer> {
  for (const server of servers.splice(0)) await server.stop();
  return start(reloads);
}

const failedChecks = async (endpoint: string) =>
  [...(await admin.get(`/${endpoint}?verbose`)).text.matchAll(/^\[-\](\S+) failed/gm)].map(([, name]) => name);

it('objects are encrypted by the plug-in, which is asked once for each seed after a restart', async () => {
  await plugin.start();
  file.write({ resources: ['secrets', 'configmaps'], providers: [plugin.provider(), identity] });
  await start();
  for (let n = 0; n < 20; n++) {
    expect((await admin.post(secrets, { metadata: { name: `s${n}` }, data: { a: 'YQ==' } })).code).toBe(201);
  }
  expect(await encryptionOf(store, keyOf('s7'))).toBe('kms:v2:plugin');
  const before = await plugin.calls();
  expect([before.Encrypt, before.Decrypt]).toEqual([1, 0]);

  await restart();
  const list = await admin.get(secrets);
  expect([list.code, list.body.items.length]).toEqual([200, 20]);
  expect((await admin.get(`${secrets}/s7`)).body.data).toEqual({ a: 'YQ==' });
  const after = await plugin.calls();
  expect([after.Encrypt, after.Decrypt]).toEqual([2, 1]);

  // Another seed of the same key is current; another key is not.
  const unchanged = async () => {
    const { body } = await admin.get(`${secrets}/s7`);
    return (await admin.put(`${secrets}/s7`, body)).body.metadata.resourceVersion === body.metadata.resourceVersion;
  };
  expect(await unchanged()).toBe(true);
  await plugin.set({ keyId: 'kek-2' });
  await restart();
  expect(await unchanged()).toBe(false);
  expect(await unchanged()).toBe(true);

  const { text } = await admin.get('/metrics');
  expect(text).toMatch(/^apiserver_envelope_encryption_dek_source_cache_size\{provider_name="plugin"\} \d+$/m);
  expect(text).toMatch(
    /^apiserver_envelope_encryption_kms_operations_latency_seconds_count\{.*method_name="\/v2.KeyManagementService\/Status".*\} \d+$/m,
  );
  expect(text).toMatch(/^apiserver_envelope_encryption_key_id_hash_total\{transformation_type="to_storage",.*\} \d+$/m);
});

it('two servers with seeds of their own show each other their Secrets in the order of the writes', async () => {
  await plugin.start();
  file.writeForSecrets(plugin.provider());
  await start();
  const first = admin;
  await start();
  const { body: list } = await admin.get(secrets);
  const { resourceVersion } = list.metadata;
  const watch = await admin.watch(`${secrets}?watch=1&resourceVersion=${resourceVersion}`);
  const others = await admin.watch(`${configMaps}?watch=1&resourceVersion=${resourceVersion}`);
  for (let n = 0; n < 10; n++) {
    await first.post(secrets, { metadata: { name: `s${n}` } });
    await first.post(configMaps, { metadata: { name: `c${n}` } });
    await admin.post(secrets, { metadata: { name: `t${n}` } });
  }
  const names = async (events: typeof watch, count: number) => {
    const seen: [string, number][] = [];
    for await (const { object } of events) {
      seen.push([object.metadata.name, Number(object.metadata.resourceVersion)]);
      if (seen.length === count) break;
    }
    events.close();
    expect(seen.map(([, revision]) => revision)).toEqual(seen.map(([, revision]) => revision).sort((a, b) => a - b));
    return seen.map(([name]) => name);
  };
  const ten = Array.from({ length: 10 }, (_, n) => n);
  expect(await names(watch, 20)).toEqual(ten.flatMap((n) => [`s${n}`, `t${n}`]));
  expect(await names(others, 10)).toEqual(ten.map((n) => `c${n}`));
});

it('a plug-in that is not there fails writes of Secrets and readiness, until it is', async () => {
  file.writeForSecrets(plugin.provider(300));
  await start();
  expect((await admin.post(configMaps, { metadata: { name: 'a' } })).code).toBe(201);
  expect((await admin.post(secrets, { metadata: { name: 'a' } })).body).toMatchObject({
    code: 500,
    message: 'Internal error occurred: KMS plug-in plugin has not provided a key yet',
  });
  expect((await store.get(keyOf('a'))).item).toBeUndefined();
  expect(await failedChecks('readyz')).toContain('kms-providers');
  expect(await failedChecks('healthz')).toContain('kms-providers');
  expect((await admin.get('/livez')).code).toBe(200);
  expect((await admin.get('/livez/kms-providers')).code).toBe(404);
  await plugin.start();
  await eventually(
    'Secrets can be written',
    async () => (await admin.post(secrets, { metadata: { name: 'a' } })).code === 201,
  );
  await eventually('the server is ready', async () => (await admin.get('/readyz')).code === 200);
});

it('a plug-in that hangs at a start keeps nothing but Secrets from being served, and they follow', async () => {
  await plugin.start();
  file.writeForSecrets(plugin.provider(300));
  await start();
  await admin.post(secrets, { metadata: { name: 'a' }, data: { a: 'YQ==' } });
  await admin.post(configMaps, { metadata: { name: 'a' } });
  await plugin.set({ Decrypt: 'hang' });
  await restart();
  expect(
    (await admin.get(configMaps)).body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
  ).toContain('a');
  const reason = 'failed to decrypt DEK, error: rpc error: code = DeadlineExceeded';
  expect((await admin.get(`${secrets}/a`)).body.message).toBe(`Internal error occurred: ${reason}`);
  expect((await admin.get(secrets)).body.message).toContain(reason);
  expect((await admin.put(`${secrets}/a`, { metadata: { name: 'a' } })).code).toBe(500);
  expect((await admin.post(secrets, { metadata: { name: 'b' } })).code).toBe(201);
  await plugin.set({ Decrypt: 'ok' });
  await eventually('the list is complete', async () => (await admin.get(secrets)).body.items?.length === 2);
  expect((await admin.get(`${secrets}/a`)).body.data).toEqual({ a: 'YQ==' });
});

it('a changed configuration moves Secrets from keys to a plug-in that is healthy, and to no other', async () => {
  file.writeForSecrets(keyed('secretbox', 'k1'));
  await start(true);
  await admin.post(secrets, { metadata: { name: 'a' } });
  const failures = async () =>
    /^apiserver_encryption_config_controller_automatic_reloads_total\{status="failure".*\} (\d+)$/m.exec(
      (await admin.get('/metrics')).text,
    )?.[1];
  await plugin.start({ healthz: 'down' });
  file.writeForSecrets(plugin.provider(300), keyed('secretbox', 'k1'));
  await eventually('the change is refused', async () => Number(await failures()) >= 1);
  await admin.post(secrets, { metadata: { name: 'b' } });
  expect(await encryptionOf(store, keyOf('b'))).toBe('secretbox:v1:k1');
  await plugin.set({ healthz: 'ok' });
  await eventually('the change is used', async () => {
    await admin.put(`${secrets}/a`, (await admin.get(`${secrets}/a`)).body);
    return (await encryptionOf(store, keyOf('a'))) === 'kms:v2:plugin';
  });
  expect((await admin.get('/readyz/kms-providers')).code).toBe(200);
});
