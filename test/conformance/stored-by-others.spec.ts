import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isProtobuf } from '../../src/codec/protobuf.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import { eventually } from '../harness/eventually.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { configMap } from './case.js';

/**
 * Values as kube-apiserver 1.36 stores them: protobuf and JSON, in versions that it writes and in old ones that it
 * reads, with the objects that it serves for them.
 */
interface Recorded {
  readonly path: string;
  readonly key: string;
  readonly value: string;
  readonly object: KubeObject;
}
const recorded = readFileSync(join('test/conformance', 'stored-values.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded);

const memory = { store: 'memory', naming: 'kubernetes' } as const;
const protobuf = 'application/vnd.kubernetes.protobuf';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const definitionKey = (name: string) => `/registry/apiextensions.k8s.io/customresourcedefinitions/${name}`;

let store: KvStore;
let server: TestServer;
let admin: HttpClient;

async function start(mediaType = 'application/json'): Promise<void> {
  // Without reconcilers, which would change the stored objects.
  const config = { storage: { mediaType }, reconcilers: { controllers: [] as string[] } };
  server = await startTestServer(memory, { config, store, reconciles: false });
  admin = server.client(server.keelson.client);
}

async function put(key: string, value: Buffer): Promise<string> {
  const { item } = await store.get(key);
  const compares = [{ key, modRevision: item?.modRevision ?? (0 as never) }];
  const result = await store.txn(compares, [{ type: 'put', key, value }]);
  expect(result.succeeded).toBe(true);
  return String(result.revision);
}

const stored = async (key: string): Promise<Buffer> => (await store.get(key)).item!.value;
const storedJson = async (key: string) => JSON.parse((await stored(key)).toString()) as KubeObject;
const served = ({ object }: Recorded, resourceVersion: string) => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion },
});

beforeEach(async () => {
  store = new MemoryStore();
});
afterEach(async () => {
  await server.stop();
  await store.close();
});

const byKind = recorded.map((row) => [`${row.object.kind} ${row.path}`, row] as const);

describe('values stored by kube-apiserver', () => {
  it('are served as by kube-apiserver, at start, when added later, and in lists', async () => {
    const versions = new Map<string, string>();
    for (const { key, value } of recorded) versions.set(key, await put(key, Buffer.from(value, 'base64')));
    await start();
    const compare = async () => {
      const lists = new Map<string, KubeObject[]>();
      for (const [title, row] of byKind) {
        const want = served(row, versions.get(row.key)!);
        const { code, body } = await admin.get(row.path);
        expect({ title, code, body: body as unknown }).toEqual({ title, code: 200, body: want });
        const collection = row.path.slice(0, row.path.lastIndexOf('/'));
        if (!lists.has(collection)) lists.set(collection, (await admin.get(collection)).body.items as KubeObject[]);
        const { kind: _kind, apiVersion: _apiVersion, ...item } = want;
        expect(lists.get(collection)).toContainEqual(item);
      }
    };
    await compare();
    for (const { key, value } of recorded) versions.set(key, await put(key, Buffer.from(value, 'base64')));
    await compare();
  });

  it('are rewritten in the configured encoding by a patch without a change', async () => {
    const secret = recorded.find(({ object }) => object.kind === 'Secret')!;
    const before = await put(secret.key, Buffer.from(secret.value, 'base64'));
    await start();
    const patch = { headers: { 'content-type': 'application/merge-patch+json' } };
    const first = await admin.request('PATCH', secret.path, { body: {}, ...patch });
    expect([first.code, first.body.metadata.resourceVersion === before]).toEqual([200, false]);
    expect(isProtobuf(await stored(secret.key))).toBe(false);
    const second = await admin.request('PATCH', secret.path, { body: {}, ...patch });
    expect(second.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
  });

  it('in the configured encoding are not rewritten by a patch without a change', async () => {
    const secret = recorded.find(({ object }) => object.kind === 'Secret')!;
    const before = await put(secret.key, Buffer.from(secret.value, 'base64'));
    await start(protobuf);
    const patch = { body: {}, headers: { 'content-type': 'application/merge-patch+json' } };
    expect((await admin.request('PATCH', secret.path, patch)).body.metadata.resourceVersion).toBe(before);
    expect((await stored(secret.key)).toString('base64')).toBe(secret.value);
  });
});

describe('--storage-media-type=application/vnd.kubernetes.protobuf', () => {
  it('stores built-in kinds as protobuf, and definitions, custom objects and APIServices as JSON', async () => {
    await start(protobuf);
    const path = '/api/v1/namespaces/default/configmaps';
    const made = await admin.post(path, configMap('a', { data: { k: 'v' } }));
    expect([made.code, isProtobuf(await stored('/registry/configmaps/default/a'))]).toEqual([201, true]);
    expect((await admin.get(`${path}/a`)).body).toEqual(made.body);
    const changed = await admin.put(`${path}/a`, { ...made.body, data: { k: 'w' } });
    expect((await admin.get(`${path}/a`)).body).toEqual(changed.body);
    expect((await admin.delete(`${path}/a`)).code).toBe(200);

    const { object } = recorded.find(({ key }) => key.endsWith('mins.beside.example.com'))!;
    const { metadata, spec } = object;
    await admin.post(definitions, { ...object, metadata: { name: metadata.name }, spec });
    expect(isProtobuf(await stored(definitionKey('mins.beside.example.com')))).toBe(false);
    const { items } = await store.range('/registry/apiregistration.k8s.io/apiservices/', { limit: 1 });
    for (const item of items) expect(isProtobuf(item.value)).toBe(false);
  });
});

describe('stored CustomResourceDefinitions', () => {
  const rows = recorded.filter(({ object }) => object.kind === 'CustomResourceDefinition');

  it.each(rows.map((row) => [row.object.metadata.name!, row] as const))(
    '%s: a new label changes nothing else of what kube-apiserver stored',
    async (_name, row) => {
      const { metadata, ...before } = JSON.parse(Buffer.from(row.value, 'base64').toString()) as KubeObject;
      await put(row.key, Buffer.from(row.value, 'base64'));
      await start();
      const headers = { 'content-type': 'application/merge-patch+json' };
      const { code } = await admin.request('PATCH', row.path, { body: { metadata: { labels: { a: 'b' } } }, headers });
      expect(code).toBe(200);
      const { metadata: newMetadata, ...after } = await storedJson(row.key);
      expect(after).toEqual(before);
      expect(newMetadata).toMatchObject({ uid: metadata.uid, labels: { a: 'b' }, generation: metadata.generation });
    },
  );

  it.each(rows.map((row) => [row.object.metadata.name!, row] as const))(
    '%s: a definition created here is stored as by kube-apiserver',
    async (_name, row) => {
      await start();
      const { object } = row;
      const body = { ...object, metadata: { name: object.metadata.name } };
      expect((await admin.post(definitions, body)).code).toBe(201);
      const { apiVersion, spec } = await storedJson(row.key);
      const want = JSON.parse(Buffer.from(row.value, 'base64').toString()) as KubeObject;
      expect([apiVersion, spec]).toEqual([want.apiVersion, want['spec']]);
    },
  );

  it('in v1, as older releases of this server stored them, are read, and written as v1beta1', async () => {
    const { object } = rows[1]!;
    const key = definitionKey(object.metadata.name!);
    await put(key, Buffer.from(JSON.stringify(object)));
    await start();
    const path = `${definitions}/${object.metadata.name}`;
    expect((await admin.get(path)).body['spec']).toEqual(object['spec']);
    const headers = { 'content-type': 'application/merge-patch+json' };
    await admin.request('PATCH', path, { body: {}, headers });
    expect((await storedJson(key)).apiVersion).toBe('apiextensions.k8s.io/v1beta1');
  });
});

describe('unknown fields in stored values', () => {
  const path = '/api/v1/namespaces/default/configmaps/newer';
  const key = '/registry/configmaps/default/newer';
  const newer = (metadata: object = {}) => ({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'newer', namespace: 'default', uid: 'c4b4c0f8-0000-4000-8000-000000000000', ...metadata },
    data: { a: 'b' },
    futureField: { x: 1 },
  });
  /** Adds field 77 after the fields of the message. */
  const asProtobuf = () => {
    const { value } = recorded.find(({ key: other }) => other === '/registry/configmaps/beside-def/min')!;
    const bytes = Buffer.from(value, 'base64');
    const extra = Buffer.from([0xea, 0x04, 0x01, 0x78]);
    // The object is field 2 of the envelope, before two empty strings.
    const at = bytes.indexOf(0x12, 4 + 2 + bytes[5]!);
    const raw = bytes.subarray(at + 2, bytes.length - 4);
    const all = Buffer.concat([raw, extra]);
    return Buffer.concat([bytes.subarray(0, at), Buffer.of(0x12, all.length), all, bytes.subarray(-4)]);
  };

  it.each<[string, string, string, () => Buffer]>([
    ['JSON', path, key, () => Buffer.from(JSON.stringify(newer()))],
    ["Go's JSON", path, key, () => Buffer.from(`${JSON.stringify(newer())}\n`)],
    ['protobuf', '/api/v1/namespaces/beside-def/configmaps/min', '/registry/configmaps/beside-def/min', asProtobuf],
  ])(
    'in %s are not lost: reads succeed, writes are refused (500), a deletion succeeds',
    async (_what, at, where, value) => {
      await put(
        '/registry/namespaces/beside-def',
        Buffer.from(recorded.find(({ key: k }) => k === where)?.value ?? ''),
      );
      const bytes = value();
      await put(where, bytes);
      await start();
      const { code, body } = await admin.get(at);
      expect([code, 'futureField' in body]).toEqual([200, false]);
      const message = expect.stringContaining('has fields that this server does not know (') as unknown;
      const headers = { 'content-type': 'application/merge-patch+json' };
      for (const refused of [
        await admin.put(at, { ...body, data: { a: 'c' } }),
        await admin.request('PATCH', at, { body: { data: { a: 'c' } }, headers }),
        await admin.request('PATCH', `${at}?dryRun=All`, { body: { data: { a: 'c' } }, headers }),
        await admin.request('PATCH', `${at}?fieldManager=me&force=true`, {
          body: { kind: 'ConfigMap', apiVersion: 'v1', data: { a: 'c' } },
          headers: { 'content-type': 'application/apply-patch+yaml' },
        }),
      ]) {
        expect([refused.code, refused.body]).toMatchObject([500, { reason: 'InternalError', message }]);
      }
      expect(await stored(where)).toEqual(bytes);
      expect((await admin.delete(at)).code).toBe(200);
      expect((await store.get(where)).item).toBeUndefined();
    },
  );

  it('do not block a deletion: the finalizer can be removed, and the object is deleted', async () => {
    await put(key, Buffer.from(JSON.stringify(newer({ finalizers: ['example.com/f'] }))));
    await start();
    expect((await admin.delete(path)).code).toBe(200);
    const { body } = await admin.get(path);
    expect(body.metadata.deletionTimestamp).toBeDefined();
    const headers = { 'content-type': 'application/merge-patch+json' };
    await admin.request('PATCH', path, { body: { metadata: { finalizers: null } }, headers });
    await eventually('the object has gone', async () => (await admin.get(path)).code === 404);
  });
});
