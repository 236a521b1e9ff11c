import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkAgainstStore } from '../../src/cache/checker.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { silentLogger, type Logger } from '../../src/std/logger.js';
import { EmbeddedStore } from '../../src/storage/backends/embedded/embedded-store.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { configMap } from './case.js';

// Another writer to the store writes arbitrary values at arbitrary keys. The values contain this text, which no log and
// no answer may contain.
const mark = 'NEIGHBOURS-OWN-TEXT';
const text = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const like = (rest: object, metadata: object = {}) =>
  text({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'bad', namespace: 'default', ...metadata }, ...rest });
const envelope = (apiVersion: string, kind: string, raw: Buffer) => {
  const field = (number: number, bytes: Buffer) =>
    Buffer.concat([Buffer.of(number * 8 + 2), varint(bytes.length), bytes]);
  const type = Buffer.concat([field(1, Buffer.from(apiVersion)), field(2, Buffer.from(kind))]);
  return Buffer.concat([Buffer.from('k8s\0', 'latin1'), field(1, type), field(2, raw)]);
};
function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let left = value; bytes.push(left > 127 ? (left & 127) | 128 : left), left > 127; left >>>= 7);
  return Buffer.from(bytes);
}

/** Values of a ConfigMap called `bad`. */
const values: readonly (readonly [string, Buffer])[] = [
  ['nothing', Buffer.alloc(0)],
  ['zeros', Buffer.alloc(64)],
  ['no JSON', text(`\u0000${mark}`)],
  ['JSON that is cut short', like({ data: { a: mark } }).subarray(0, 90)],
  ['JSON with more behind it', text(`${like({}).toString()}{"x":"${mark}"}`)],
  ['a list', text([mark])],
  ['a number', text('1e400')],
  ['a text', text(`"${mark}"`)],
  ['null', text('null')],
  ['an object without a kind', text({ metadata: { name: 'bad' }, data: { a: mark } })],
  ['a kind that is a number', text({ kind: 1, apiVersion: 'v1', metadata: {} })],
  ['another kind', text({ kind: 'Secret', apiVersion: 'v1', metadata: { name: 'bad', namespace: 'default' } })],
  ['a kind of nobody', text({ kind: mark.repeat(1000), apiVersion: `${mark}/v1`, metadata: {} })],
  [
    'a version of nobody',
    text({ kind: 'ConfigMap', apiVersion: 'v99', metadata: { name: 'bad', namespace: 'default' } }),
  ],
  ['metadata that is a number', text({ kind: 'ConfigMap', apiVersion: 'v1', metadata: 5 })],
  ['metadata that is a list', text({ kind: 'ConfigMap', apiVersion: 'v1', metadata: [{ name: 'bad' }] })],
  ['no metadata', text({ kind: 'ConfigMap', apiVersion: 'v1' })],
  ['labels that are a text', like({}, { labels: mark })],
  ['finalizers that are numbers', like({}, { finalizers: [1] })],
  ['owners that are null', like({}, { ownerReferences: 'x' })],
  ['a time that is none', like({}, { creationTimestamp: mark })],
  ['a deletion at no time', like({}, { deletionTimestamp: 12 })],
  ['a day that does not exist', like({}, { creationTimestamp: '2026-13-45T99:99:99Z' })],
  ['another name', like({}, { name: 'other' })],
  ['another namespace', like({}, { namespace: 'other' })],
  ['data of another type', like({ data: [mark] })],
  [
    'a dangerous key',
    text(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"bad","namespace":"default","__proto__":{"x":1}}}`),
  ],
  [
    'a dangerous key within',
    text(
      `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"bad","namespace":"default"},"data":{"__proto__":"x"}}`,
    ),
  ],
  ['depth', text(`{"kind":"ConfigMap","apiVersion":"v1","metadata":${'['.repeat(50_000)}`)],
  ['closed depth', text(`{"kind":"ConfigMap","apiVersion":"v1","x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`)],
  ['1.4 MB of letters', Buffer.alloc(1_400_000, 'A')],
  ['1.4 MB of JSON', like({ data: { a: [mark.repeat(70_000)] } })],
  ['a compressed stream', Buffer.from('1f8b0800000000000003', 'hex')],
  ['a protobuf prefix alone', Buffer.from('6b387300', 'hex')],
  ['a protobuf that is cut short', envelope('v1', 'ConfigMap', Buffer.from('0aff', 'hex')).subarray(0, -1)],
  ['a message within that ends too late', envelope('v1', 'ConfigMap', Buffer.from('0aff01', 'hex'))],
  ['a protobuf of groups', envelope('v1', 'ConfigMap', Buffer.from('0b0c', 'hex'))],
  ['a protobuf of another kind', envelope('v1', 'Secret', Buffer.alloc(0))],
  ['a protobuf of nobody', envelope('v1', mark.repeat(5000), Buffer.alloc(0))],
  ['a protobuf without a name', envelope('v1', 'ConfigMap', Buffer.alloc(0))],
];

/** Keys that cannot belong to an object. */
const keys = [
  'configmaps/',
  'configmaps//',
  'configmaps/default/',
  'configmaps/default/a/b',
  'configmaps/only',
  'configmaps/default/ünï',
  'configmaps/default/\n',
  '',
  '/',
  'unknown/x',
  'unknown.example.com/things/x',
  'masterleases/',
  'masterleases/192.0.2.99',
  'peerserverleases/apiserver-x',
  'leases/kube-system/apiserver-bad',
  'events/default/bad',
  'apiextensions.k8s.io/customresourcedefinitions/bad',
  'apiregistration.k8s.io/apiservices/bad',
];
/** Keys that only etcd accepts: not UTF-8, or long. */
const rawKeys = [
  'configmaps/default/\udcff\udcfe',
  'configmaps/\udcff',
  '\udcff',
  `configmaps/default/${'k'.repeat(1_800)}`,
];

async function put(store: KvStore, key: string, value: Buffer): Promise<void> {
  const { item } = await store.get(key);
  const compares = [{ key, modRevision: item?.modRevision ?? (0 as never) }];
  expect((await store.txn(compares, [{ type: 'put', key, value }])).succeeded).toBe(true);
}

function collectingLogger(): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  const take = (message: string, fields?: Record<string, unknown>) =>
    void lines.push(JSON.stringify({ message, ...fields, error: (fields?.['error'] as Error | undefined)?.message }));
  return { logger: { ...silentLogger, info: take, warn: take, error: take }, lines };
}

function neighbourhood(open: () => Promise<{ store: KvStore; end(): Promise<void> }>, takesRawKeys: boolean): void {
  let store: KvStore;
  let end: () => Promise<void>;
  let server: TestServer;
  let admin: HttpClient;
  let lines: string[];
  const configMaps = '/api/v1/namespaces/default/configmaps';

  const spoil = async (round: number) => {
    for (const [index, [, value]] of values.entries()) {
      // The name in the value matches the key, if it has one.
      const name = `bad${index}`;
      const named =
        value.length < 1000 ? text(value.toString('latin1').replace('"name":"bad"', `"name":"${name}"`)) : value;
      const isText = value.length > 0 && value[0]! < 0x80 && value[0] !== 0x6b;
      await put(store, `/registry/configmaps/default/${name}`, isText ? named : value);
    }
    for (const key of [...keys, ...(takesRawKeys ? rawKeys : [])]) {
      await put(store, `/registry/${key}`, text(`${mark} ${round}`));
    }
  };

  beforeAll(async () => {
    ({ store, end } = await open());
    const collected = collectingLogger();
    lines = collected.lines;
    await spoil(1);
    server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { store, logger: collected.logger });
    admin = server.client(server.keelson.client);
    for (const name of ['aaa', 'mmm', 'zzz']) expect((await admin.post(configMaps, configMap(name))).code).toBe(201);
  });
  afterAll(async () => {
    await server.stop();
    await store.close();
    await end();
  });

  const good = ['aaa', 'kube-root-ca.crt', 'mmm', 'zzz'];
  const namesOf = (body: { items: KubeObject[] }) => body.items.map(({ metadata }) => metadata.name);
  const isGood = (names: readonly (string | undefined)[]) =>
    names.filter((name) => name !== 'kube-root-ca.crt').join() === 'aaa,mmm,zzz' &&
    names.every((it) => good.includes(it!));

  it('lists contain all readable objects, in every encoding, with a warning', async () => {
    const json = await admin.get(configMaps);
    expect(isGood(namesOf(json.body))).toBe(true);
    expect(json.warnings).toEqual([expect.stringMatching(/^\d+ stored object\(s\) cannot be read and are left out/)]);
    for (const accept of [
      'application/vnd.kubernetes.protobuf',
      'application/yaml',
      'application/json;as=Table;v=v1;g=meta.k8s.io',
      'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    ]) {
      const { code, text: shown } = await admin.get(configMaps, { accept });
      expect([accept, code, shown.includes('zzz'), shown.includes(mark)]).toEqual([accept, 200, true, false]);
    }
    const everywhere = await admin.get('/api/v1/configmaps?labelSelector=x!%3Dy');
    expect([everywhere.code, namesOf(everywhere.body).includes('zzz')]).toEqual([200, true]);
  });

  it('pages contain all readable objects', async () => {
    const names: (string | undefined)[] = [];
    let next = '';
    do {
      const { code, body } = await admin.get(`${configMaps}?limit=1${next && `&continue=${encodeURIComponent(next)}`}`);
      expect(code).toBe(200);
      names.push(...namesOf(body as { items: KubeObject[] }));
      next = (body.metadata.continue as string | undefined) ?? '';
    } while (next !== '');
    expect(isGood(names)).toBe(true);
  });

  it.each(values.map(([name], index) => [name, index] as const))(
    'one with %s is answered with a short error (500)',
    async (_n, index) => {
      const { code, body, text: shown } = await admin.get(`${configMaps}/bad${index}`);
      expect([code, body.reason]).toEqual([500, 'InternalError']);
      expect(shown.length).toBeLessThan(1500);
      expect(shown.includes(`${mark}${mark}${mark}${mark}${mark}${mark}${mark}${mark}`)).toBe(false);
      expect((await admin.put(`${configMaps}/bad${index}`, configMap(`bad${index}`))).code).toBe(500);
    },
  );

  it('every other resource can be listed', async () => {
    for (const { group, version, resources } of server.keelson.components.registry.servedVersions()) {
      for (const served of resources) {
        if (served.type !== 'stored' || !served.definition.verbs.includes('list')) continue;
        const root = group === '' ? '/api/v1' : `/apis/${group}/${version}`;
        const { code } = await admin.get(`${root}/${served.definition.plural}`);
        expect([served.definition.plural, code]).toEqual([served.definition.plural, 200]);
      }
    }
  });

  it('watches continue while all values are rewritten, and the cache equals the store', async () => {
    const { resourceVersion } = (await admin.get(configMaps)).body.metadata as { resourceVersion: string };
    const watch = await admin.watch(`${configMaps}?watch=1&resourceVersion=${resourceVersion}`);
    await spoil(2);
    expect((await admin.post(configMaps, configMap('nnn'))).code).toBe(201);
    const event = await watch.next();
    expect([event?.type, event?.object.metadata.name]).toEqual(['ADDED', 'nnn']);
    expect((await admin.delete(`${configMaps}/nnn`)).code).toBe(200);
    watch.close();
    const { feed } = server.keelson.components;
    await feed.consistentRevision({ timeoutMs: 5000 });
    expect(await checkAgainstStore(feed, store)).toEqual([]);
  });

  it('logs name keys and reasons in a few short lines', () => {
    const reports = lines.filter((line) => line.includes('cannot be decoded'));
    expect(reports.length).toBeGreaterThan(5);
    expect(lines.length).toBeLessThan(150);
    for (const line of lines) {
      expect(line.length).toBeLessThan(2000);
      expect(line).not.toContain(`${mark}${mark}${mark}${mark}${mark}${mark}${mark}${mark}`);
    }
  });

  it('a metric counts them', async () => {
    const { text: page } = await admin.get('/metrics');
    expect(page).toMatch(/apiserver_storage_decode_errors_total\{group="",resource="configmaps"\} [1-9]/);
  });

  it('an encrypted value fails the lists that contain it, and no others', async () => {
    const key = '/registry/configmaps/locked/sealed';
    await put(store, key, text(`k8s:enc:aescbc:v1:key1:${mark}`));
    await server.keelson.components.feed.consistentRevision({ timeoutMs: 5000 });
    for (const path of ['/api/v1/configmaps', '/api/v1/namespaces/locked/configmaps']) {
      const { code, text: shown } = await admin.get(path);
      expect([code, shown.includes(key), shown.includes(mark)]).toEqual([500, true, false]);
    }
    expect((await admin.get('/api/v1/namespaces/locked/configmaps/sealed')).code).toBe(500);
    expect((await admin.get(configMaps)).code).toBe(200);
    await store.txn([], [{ type: 'delete', key }]);
  });

  it('a namespace with unreadable objects can be deleted', async () => {
    await admin.post('/api/v1/namespaces', { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'gone' } });
    await put(store, '/registry/configmaps/gone/bad', text(mark));
    await put(store, '/registry/configmaps/gone/bad/worse', text(mark));
    expect((await admin.delete('/api/v1/namespaces/gone')).code).toBe(200);
    for (let tries = 0; tries < 300 && (await admin.get('/api/v1/namespaces/gone')).code !== 404; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect((await admin.get('/api/v1/namespaces/gone')).code).toBe(404);
    expect((await store.range('/registry/configmaps/gone/', { limit: 10 })).items).toEqual([]);
  });
}

describe('unreadable values on the memory store', () => {
  neighbourhood(async () => ({ store: new MemoryStore(), end: async () => undefined }), false);
});

describe('unreadable values on the embedded store', () => {
  neighbourhood(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'keelson-hostile-'));
    const store = await EmbeddedStore.open({
      directory,
      logger: silentLogger,
    });
    return { store, end: () => rm(directory, { recursive: true, force: true }) };
  }, false);
});

describeWithEtcd('unreadable values on etcd', () => {
  neighbourhood(async () => {
    const cluster = await EtcdCluster.start();
    return { store: await cluster.openStore(), end: () => cluster.stop() };
  }, true);
});
