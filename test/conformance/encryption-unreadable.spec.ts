import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import { checkStore } from '../../src/check-command.js';
import { openEncryption } from '../../src/assembly/encryption.js';
import { UndoSteps } from '../../src/assembly/undo-steps.js';
import { systemClock } from '../../src/std/clock.js';
import { systemRng } from '../../src/std/rng.js';
import { silentLogger } from '../../src/std/logger.js';
import { encryptionOf, EncryptionFile, identity, keyed } from '../harness/encryption.js';
import { eventually } from '../harness/eventually.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

// Secrets whose key is not configured, or whose value was changed, under a server that runs and one that starts.
const memory = { store: 'memory', naming: 'kubernetes' } as const;
const secrets = '/api/v1/namespaces/default/secrets';
const keyOf = (name: string) => `/registry/secrets/default/${name}`;
const option = 'ignoreStoreReadErrorWithClusterBreakingPotential';
const noKey = 'no matching key was found for the provided AES transformer';

let file: EncryptionFile;
let store: KvStore;
let server: TestServer | undefined;
let admin: HttpClient;

beforeEach(() => {
  file = new EncryptionFile();
  store = new MemoryStore();
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
  await store.close();
  file.remove();
});

async function start({ gate = false, reloads = false } = {}): Promise<void> {
  await server?.stop();
  const config = { storage: file.config(reloads), featureGates: { AllowUnsafeMalformedObjectDeletion: gate } };
  server = await startTestServer(memory, { config, store });
  admin = server.client(server.keelson.client);
}

/** Creates the Secrets `good` and `sick`, and starts a server without the key of `sick`. */
async function startWithoutKey(options: { gate?: boolean; reloads?: boolean } = {}): Promise<void> {
  file.writeForSecrets(keyed('aesgcm', 'k2'));
  await start();
  expect((await admin.post(secrets, { metadata: { name: 'sick' }, data: { a: 'YQ==' } })).code).toBe(201);
  file.writeForSecrets(keyed('aesgcm', 'k1', 'k2'));
  await start();
  expect((await admin.post(secrets, { metadata: { name: 'good' } })).code).toBe(201);
  file.writeForSecrets(keyed('aesgcm', 'k1'));
  await start(options);
}

const statusOf = (reason: string) => ({
  kind: 'Status',
  status: 'Failure',
  message: `Internal error occurred: ${reason}`,
  reason: 'InternalError',
  details: { causes: [{ message: reason }] },
  code: 500,
});

it('one Secret without its key fails its requests and lists of Secrets, and nothing else', async () => {
  await startWithoutKey();
  const before = (await store.get(keyOf('sick'))).item;
  for (const answer of [
    await admin.get(`${secrets}/sick`),
    await admin.get(`${secrets}/sick?resourceVersion=0`),
    await admin.put(`${secrets}/sick`, { metadata: { name: 'sick' } }),
    await admin.patch(`${secrets}/sick`, { data: { a: 'Yg==' } }),
    await admin.patch(
      `${secrets}/sick?fieldManager=f`,
      { kind: 'Secret', apiVersion: 'v1' },
      'application/apply-patch+yaml',
    ),
    await admin.delete(`${secrets}/sick`),
  ]) {
    expect(answer.body).toMatchObject(statusOf(noKey));
  }
  expect((await admin.post(secrets, { metadata: { name: 'sick' } })).body).toMatchObject({ reason: 'AlreadyExists' });

  const listed = `unable to transform key "${keyOf('sick')}": ${noKey}`;
  const initial = 'watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
  for (const path of [secrets, '/api/v1/secrets', `${secrets}?limit=500`, `${secrets}?${initial}`]) {
    expect((await admin.get(path)).body).toMatchObject(statusOf(listed));
  }
  expect((await admin.delete(secrets)).body).toMatchObject(statusOf(listed));
  const fromMemory = await admin.get(`${secrets}?resourceVersion=0`);
  expect([fromMemory.code, fromMemory.body.items.length, fromMemory.warnings]).toMatchObject([200, 1, { length: 1 }]);

  expect((await admin.get(`${secrets}/good`)).code).toBe(200);
  expect((await admin.post(secrets, { metadata: { name: 'new' } })).code).toBe(201);
  expect((await admin.get('/api/v1/namespaces/kube-system/secrets')).code).toBe(200);
  expect((await admin.get('/api/v1/configmaps')).code).toBe(200);
  expect((await admin.get('/readyz')).code).toBe(200);
  expect((await store.get(keyOf('sick'))).item).toEqual(before);
});

it('a watch goes on while a Secret cannot be read, and shows it when it is replaced', async () => {
  file.writeForSecrets(keyed('aesgcm', 'k1'));
  await start();
  const { body: list } = await admin.get(secrets);
  const watch = await admin.watch(`${secrets}?watch=1&resourceVersion=${list.metadata.resourceVersion}`);
  const garbage = Buffer.from('k8s:enc:aesgcm:v1:k1:0123456789abcdefghijklmnopqrstuvwxyz');
  await store.txn([], [{ type: 'put', key: keyOf('sick'), value: garbage }]);
  await admin.post(secrets, { metadata: { name: 'good' } });
  const seen: string[] = [];
  for await (const { type, object } of watch) {
    seen.push(`${type} ${object.metadata.name}`);
    if (seen.length === 1) await store.txn([], [{ type: 'delete', key: keyOf('sick') }]);
    if (seen.length === 1) await admin.post(secrets, { metadata: { name: 'sick' } });
    if (seen.length === 2) break;
  }
  watch.close();
  expect(seen).toEqual(['ADDED good', 'ADDED sick']);
});

describe('the unsafe deletion option', () => {
  it('deletes a Secret that cannot be decrypted, with its finalizers', async () => {
    await startWithoutKey({ gate: true });
    const corrupt =
      'StorageError: corrupt object, Code: 7, Key: /secrets/default/sick, ResourceVersion: 0, ' +
      `AdditionalErrorMsg: data from the storage is not transformable revision=0: ${noKey}`;
    expect((await admin.get(`${secrets}/sick`)).body).toMatchObject(statusOf(corrupt));
    expect((await admin.delete(`${secrets}/sick`)).body).toMatchObject(statusOf(corrupt));
    const deleted = await admin.delete(`${secrets}/sick`, { kind: 'DeleteOptions', apiVersion: 'v1', [option]: true });
    expect([deleted.code, deleted.body.details]).toEqual([200, { name: 'sick', kind: 'Secret' }]);
    expect((await store.get(keyOf('sick'))).item).toBeUndefined();
    await eventually('the list is complete', async () => (await admin.get(secrets)).code === 200);
  });

  it('refuses a Secret that can be decrypted, and keeps it', async () => {
    await startWithoutKey({ gate: true });
    const { body } = await admin.delete(`${secrets}/good?${option}=true`);
    expect(body).toMatchObject({
      code: 422,
      message: `secrets "good" is invalid: ${option}: Invalid value: true: is exclusively used to delete corrupt object(s), try again by removing this option`,
      details: { name: 'good', kind: 'secrets' },
    });
    expect((await admin.get(`${secrets}/good`)).code).toBe(200);
  });

  it('has no effect with its gate off', async () => {
    await startWithoutKey();
    expect((await admin.delete(`${secrets}/sick?${option}=true`)).body).toMatchObject(statusOf(noKey));
    expect((await store.get(keyOf('sick'))).item).toBeDefined();
  });
});

it('a namespace is not removed while a Secret in it cannot be decrypted', async () => {
  file.writeForSecrets(keyed('aescbc', 'k2'));
  await start();
  await admin.post('/api/v1/namespaces', { metadata: { name: 'held' } });
  await admin.post('/api/v1/namespaces/held/secrets', { metadata: { name: 'sick' } });
  file.writeForSecrets(keyed('aescbc', 'k1'));
  await start({ reloads: true });
  await admin.delete('/api/v1/namespaces/held');
  const conditions = async () =>
    ((await admin.get('/api/v1/namespaces/held')).body.status?.conditions ?? []) as { type: string; message: string }[];
  await eventually('the failure is reported', async () =>
    (await conditions()).some(({ message }) => message.includes('/registry/secrets/held/sick cannot be decrypted')),
  );
  expect(await encryptionOf(store, '/registry/secrets/held/sick')).toBe('aescbc:v1:k2');
  file.writeForSecrets(keyed('aescbc', 'k1', 'k2'));
  await eventually('it is gone', async () => (await admin.get('/api/v1/namespaces/held')).code === 404);
});

describe('a changed configuration', () => {
  const reloads = async (status: string) => {
    const { text } = await admin.get('/metrics');
    const name = 'apiserver_encryption_config_controller_automatic_reloads_total';
    return Number(new RegExp(`^${name}\\{.*status="${status}".*\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  };

  it('makes Secrets readable whose key it adds, and encrypts with its first key', async () => {
    await startWithoutKey({ reloads: true });
    expect((await admin.get(secrets)).code).toBe(500);
    const watch = await admin.watch(`${secrets}?watch=1&resourceVersion=0`);
    file.writeForSecrets(keyed('secretbox', 'k1'), keyed('aesgcm', 'k1', 'k2'));
    await eventually('the list is complete', async () => (await admin.get(secrets)).body.items?.length === 2);
    expect((await admin.get(`${secrets}/sick`)).body.data).toEqual({ a: 'YQ==' });
    const types: string[] = [];
    for await (const { type } of watch) types.push(type);
    // The watch ends, since the Secret appears at a revision that it has passed.
    expect(types).toEqual(['ADDED', 'ERROR']);
    expect(await reloads('success')).toBe(1);

    await admin.post(secrets, { metadata: { name: 'new' } });
    expect(await encryptionOf(store, keyOf('new'))).toBe('secretbox:v1:k1');
    const { body } = await admin.get(`${secrets}/good`);
    expect((await admin.put(`${secrets}/good`, body)).code).toBe(200);
    expect(await encryptionOf(store, keyOf('good'))).toBe('secretbox:v1:k1');
  });

  it('that is broken has no effect and is counted', async () => {
    file.writeForSecrets(keyed('aescbc', 'k1'));
    await start({ reloads: true });
    file.writeText('resources: [');
    await eventually('the failure is counted', async () => (await reloads('failure')) === 1);
    await admin.post(secrets, { metadata: { name: 'a' } });
    expect(await encryptionOf(store, keyOf('a'))).toBe('aescbc:v1:k1');
    file.writeForSecrets(identity, keyed('aescbc', 'k1'));
    await eventually('the next change is used', async () => (await reloads('success')) === 1);
    await admin.put(`${secrets}/a`, (await admin.get(`${secrets}/a`)).body);
    expect(await encryptionOf(store, keyOf('a'))).toBe('plain');
  });
});

it('without a configuration, an encrypted Secret is as unreadable as with a wrong key', async () => {
  file.writeForSecrets(keyed('secretbox', 'k1'));
  await start();
  await admin.post(secrets, { metadata: { name: 'sick' } });
  await server!.stop();
  server = await startTestServer(memory, { store });
  admin = server.client(server.keelson.client);
  const reason = 'identity transformer tried to read encrypted data';
  expect((await admin.get(`${secrets}/sick`)).body).toMatchObject(statusOf(reason));
  expect((await admin.get(secrets)).body.message).toContain(reason);
});

it('keelson check reads encrypted objects and reports those without a key', async () => {
  await startWithoutKey();
  const { config } = server!.keelson.components;
  await server!.stop();
  server = undefined;
  const undo = new UndoSteps();
  const logger = silentLogger;
  const encryption = await openEncryption(config, { clock: systemClock, rng: systemRng, logger, undo });
  const options = { problemsMax: 10, clock: systemClock, progress: () => undefined };
  const report = await checkStore(config, store, { ...options, encryption });
  const { objects, readable, problems } = report.resources.find(({ resource }) => resource === 'secrets')!;
  expect([objects, readable]).toEqual([2, 1]);
  expect(problems).toEqual([
    {
      key: keyOf('sick'),
      type: 'unreadable',
      reason: `encrypted at rest (provider aesgcm), not with a key of --encryption-provider-config: ${noKey}`,
    },
  ]);
  const unaware = await checkStore(config, store, options);
  expect(unaware.resources.find(({ resource }) => resource === 'secrets')).toMatchObject({ objects: 2, readable: 0 });
});
