import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import { encryptionKeys, encryptionOf, EncryptionFile, identity, keyed } from '../harness/encryption.js';
import { eventually } from '../harness/eventually.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

/** Secrets as kube-apiserver 1.36 has encrypted them with fixed keys, in protobuf. */
const recorded = readFileSync(join('test/conformance', 'encrypted-values.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as { key: string; value: string; object: KubeObject });

const memory = { store: 'memory', naming: 'kubernetes' } as const;
const secrets = '/api/v1/namespaces/enc/secrets';
const keyOf = (name: string) => `/registry/secrets/enc/${name}`;
const rest = [keyed('aescbc', 'k1', 'k2'), keyed('aesgcm', 'k1', 'k16'), keyed('secretbox', 'k1'), identity];

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

/** Starts a server, or starts it again, that encrypts Secrets with these providers. */
async function start(...providers: readonly object[]): Promise<void> {
  file.writeForSecrets(...providers);
  await startWithFile();
}

async function startWithFile(): Promise<void> {
  await server?.stop();
  const storage = { ...file.config(), mediaType: 'application/vnd.kubernetes.protobuf' };
  server = await startTestServer(memory, { config: { storage }, store, reconciles: false });
  admin = server.client(server.keelson.client);
  await admin.post('/api/v1/namespaces', { metadata: { name: 'enc' } });
}

const putAll = async () => {
  for (const { key, value } of recorded) {
    await store.txn([], [{ type: 'put', key, value: Buffer.from(value, 'base64') }]);
  }
};

it.each([
  ['aescbc', rest],
  ['aesgcm', [rest[1]!, rest[0]!, rest[2]!, identity]],
  ['secretbox', [rest[2]!, rest[0]!, rest[1]!, identity]],
  ['aescbc with the second key', [keyed('aescbc', 'k2', 'k1'), ...rest.slice(1)]],
  ['identity', [identity, ...rest.slice(0, 3)]],
])('Secrets that kube-apiserver has encrypted are served if %s comes first', async (_first, providers) => {
  await putAll();
  await start(...providers);
  const list = await admin.get(secrets);
  expect([list.code, list.body.items]).toMatchObject([200, { length: recorded.length }]);
  for (const { key, object } of recorded) {
    const { code, body } = await admin.get(`${secrets}/${key.split('/').at(-1)}`);
    const { resourceVersion } = body.metadata;
    const expected = { ...object, metadata: { ...object.metadata, resourceVersion } };
    expect([code, body]).toEqual([200, expected]);
  }
});

/** The steps of a rewrite: with these providers, what is done to which Secret, and how it is stored before and after. */
const put = (body: KubeObject, path: string) => admin.put(path, body);
const putDry = (body: KubeObject, path: string) => admin.put(`${path}?dryRun=All`, body);
const patchEmpty = (_body: KubeObject, path: string) => admin.patch(path, {});
const patch = (_body: KubeObject, path: string) => admin.patch(path, { metadata: { annotations: { t: 'u' } } });
const get = (_body: KubeObject, path: string) => admin.get(path);
const cbc = rest;
const cbcSecond = [keyed('aescbc', 'k2', 'k1'), ...rest.slice(1)];
const gcm = [rest[1]!, rest[0]!, rest[2]!, identity];
const none = [identity, keyed('aescbc', 'k2', 'k1')];

it.each([
  ['PUT of the same object, the key is current', cbc, put, 'aescbc-0', 'aescbc:v1:k1', 'aescbc:v1:k1', false],
  ['empty patch, the key is current', cbc, patchEmpty, 'aescbc-0', 'aescbc:v1:k1', 'aescbc:v1:k1', false],
  ['a change, the key is current', cbc, patch, 'aescbc-0', 'aescbc:v1:k1', 'aescbc:v1:k1', true],
  ['GET of an unencrypted object', cbc, get, 'identity-0', 'plain', 'plain', false],
  ['PUT of the same unencrypted object', cbc, put, 'identity-0', 'plain', 'aescbc:v1:k1', true],
  ['empty patch of an unencrypted object', cbc, patchEmpty, 'identity-1', 'plain', 'aescbc:v1:k1', true],
  ['GET, stored with the second key', cbcSecond, get, 'aescbc-1', 'aescbc:v1:k1', 'aescbc:v1:k1', false],
  ['PUT of the same object, stored with the second key', cbcSecond, put, 'aescbc-1', 'aescbc:v1:k1', 'aescbc:v1:k2', true], // prettier-ignore
  ['empty patch, stored with the second key', cbcSecond, patchEmpty, 'aescbc-0', 'aescbc:v1:k1', 'aescbc:v1:k2', true], // prettier-ignore
  ['dry run of a PUT, stored with the second key', cbcSecond, putDry, 'aescbc-2', 'aescbc:v1:k1', 'aescbc:v1:k1', false], // prettier-ignore
  ['PUT of the same object, of the first provider', gcm, put, 'aesgcm-0', 'aesgcm:v1:k1', 'aesgcm:v1:k1', false],
  ['PUT of the same object, of the third provider', gcm, put, 'secretbox-0', 'secretbox:v1:k1', 'aesgcm:v1:k1', true],
  ['PUT of the same object, of the second provider', gcm, put, 'aescbc-2', 'aescbc:v1:k1', 'aesgcm:v1:k1', true],
  ['a change, of the third provider', gcm, patch, 'secretbox-1', 'secretbox:v1:k1', 'aesgcm:v1:k1', true],
  ['PUT of the same object, identity first', none, put, 'aescbc-1', 'aescbc:v1:k1', 'plain', true],
])('%s', async (_title, providers, act, name, before, after, isWritten) => {
  await putAll();
  await start(...providers);
  const path = `${secrets}/${name}`;
  const { item } = await store.get(keyOf(name));
  expect(await encryptionOf(store, keyOf(name))).toBe(before);
  const answer = await act((await admin.get(path)).body, path);
  const { item: latest } = await store.get(keyOf(name));
  expect(answer.code).toBe(200);
  expect(await encryptionOf(store, keyOf(name))).toBe(after);
  expect(latest!.modRevision !== item!.modRevision).toBe(isWritten);
  expect(answer.body.metadata.resourceVersion).toBe(String(latest!.modRevision));
  const [once, twice] = [await put(answer.body, path), await put((await admin.get(path)).body, path)];
  expect(twice.body.metadata.resourceVersion).toBe(once.body.metadata.resourceVersion);
});

describe('rules', () => {
  const objects: readonly (readonly [path: string, key: string, body: object])[] = [
    [secrets, keyOf('a'), {}],
    ['/api/v1/namespaces/enc/configmaps', '/registry/configmaps/enc/a', {}],
    ['/api/v1/namespaces/enc/services', '/registry/services/specs/enc/a', { spec: { ports: [{ port: 1 }], type: 'NodePort' } }], // prettier-ignore
    ['/apis/coordination.k8s.io/v1/namespaces/enc/leases', '/registry/leases/enc/a', {}],
    ['/apis/policy/v1/namespaces/enc/poddisruptionbudgets', '/registry/poddisruptionbudgets/enc/a', {}],
    ['/apis/shop.example.com/v1/namespaces/enc/widgets', '/registry/shop.example.com/widgets/enc/a', { kind: 'Widget', apiVersion: 'shop.example.com/v1' }], // prettier-ignore
  ];
  const definition = {
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    metadata: { name: 'widgets.shop.example.com' },
    spec: {
      group: 'shop.example.com',
      names: { plural: 'widgets', kind: 'Widget' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  };
  const providers = [keyed('aesgcm', 'k1')];

  async function encrypted(...rules: readonly string[][]): Promise<string[]> {
    file.write(...rules.map((resources) => ({ resources, providers })));
    await server?.stop();
    server = await startTestServer(memory, { config: { storage: file.config() }, store });
    admin = server.client(server.keelson.client);
    await admin.post('/api/v1/namespaces', { metadata: { name: 'enc' } });
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    expect((await admin.post(crds, definition)).code).toBe(201);
    for (const [path, , body] of objects) {
      const create = async () => (await admin.post(path, { ...body, metadata: { name: 'a' } })).code;
      await eventually(`${path} is served`, async () => (await create()) === 201);
      expect((await admin.get(`${path}/a`)).code).toBe(200);
    }
    const keys = [...objects.map(([, key]) => key), '/registry/ranges/servicenodeports'];
    const found = await Promise.all(keys.map((key) => encryptionOf(store, key)));
    return keys.filter((_, index) => found[index] === 'aesgcm:v1:k1');
  }

  it.each([
    ['single resources', [['secrets', 'leases.coordination.k8s.io', 'widgets.shop.example.com']], [0, 3, 5]],
    ['the core group', [['*.']], [0, 1, 2, 6]],
    ['a group of custom resources', [['*.shop.example.com']], [5]],
    ['Services, with the node port map', [['services']], [2, 6]],
    ['everything', [['*.*']], [0, 1, 2, 3, 4, 5, 6]],
  ])('encrypt %s', async (_title, rules, expected) => {
    const keys = [...objects.map(([, key]) => key), '/registry/ranges/servicenodeports'];
    expect(await encrypted(...rules)).toEqual(expected.map((index) => keys[index]));
  });
});

describe('a server that cannot use its configuration', () => {
  it.each([
    ['that is missing', undefined, /no such file/],
    ['with an error of the syntax', `resources: [{"secret": "${encryptionKeys.k1}"`, /cannot be read: /],
    ['with a short key', JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources: [{ resources: ['secrets'], providers: [{ secretbox: { keys: [{ name: 'a', secret: encryptionKeys.k16 }] } }] }] }), /keys\[0\]\.secret: Invalid value: "REDACTED": secret is not of the expected length, got 16, expected one of \[32\]/], // prettier-ignore
  ])('does not start, and does not show keys: a file %s', async (_title, text, message) => {
    if (text !== undefined) file.writeText(text);
    const error: unknown = await startWithFile().catch((reason: unknown) => reason);
    expect(String(error)).toMatch(message);
    expect(String(error)).toContain(`--encryption-provider-config: ${file.path}: `);
    for (const key of Object.values(encryptionKeys)) expect(String(error)).not.toContain(key.slice(0, 12));
    expect((await store.range('/')).items).toEqual([]);
  });
});

it('keys are in no metric, in no configz and in no log', async () => {
  const lines: string[] = [];
  const line = (message: string, fields?: object) => void lines.push(message, JSON.stringify(fields));
  const logger = { debug: line, info: line, warn: line, error: line };
  file.writeForSecrets(keyed('secretbox', 'k1'), keyed('aescbc', 'k2'));
  server = await startTestServer(memory, { config: { storage: file.config(true) }, store, logger });
  admin = server.client(server.keelson.client);
  await admin.post('/api/v1/namespaces/default/secrets', { metadata: { name: 'a' }, data: { a: 'YQ==' } });
  const texts = [...lines];
  for (const path of ['/metrics', '/configz', '/readyz?verbose', '/debug/pprof/cmdline']) {
    texts.push((await admin.get(path)).text);
  }
  for (const key of Object.values(encryptionKeys)) {
    for (const form of [key, Buffer.from(key, 'base64').toString(), Buffer.from(key, 'base64').toString('hex')]) {
      expect(texts.filter((text) => text.includes(form))).toEqual([]);
    }
  }
});
