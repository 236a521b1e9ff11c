import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineAuthenticator } from '../../src/index.js';
import { clusterPrefix, storedClusters } from '../../src/logical-clusters/cluster-keys.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { Deferred } from '../../src/std/deferred.js';
import { silentLogger } from '../../src/std/logger.js';
import { ClusterClient, ClusterServer, clusterObject, clustersPath, tokenOf } from '../harness/logical-clusters.js';
import { eventually } from '../harness/eventually.js';
import { HttpClient } from '../harness/http-client.js';
import { ServerProcess } from '../harness/server-process.js';

const maps = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

describe('memory', () => {
  let server: ClusterServer;
  beforeAll(
    async () =>
      (server = await ClusterServer.start({
        authentication: { bootstrapTokens: true },
        logicalClusters: { awakeMax: 1, idleTimeoutMs: 100 },
      })),
  );
  afterAll(() => server.stop());

  test('more clusters than may be awake are served in turn', async () => {
    const clusters: ClusterClient[] = [];
    for (const name of ['a', 'b', 'c']) clusters.push(await server.create(name));
    for (const cluster of clusters) expect((await cluster.post(maps, configMap(cluster.name))).code).toBe(201);
    const answers = await Promise.all(clusters.map((cluster) => cluster.get(`${maps}/${cluster.name}`)));
    expect(answers.map(({ code }) => code)).toEqual([200, 200, 200]);
  });

  test('a cluster with a watch stays awake: others are refused with 429 until it ends', async () => {
    const watch = await server.admin.watch(`/clusters/a${maps}?watch=1&timeoutSeconds=3600`);
    const refused = await server.admin.get('/clusters/b/api');
    expect([refused.code, refused.headers['retry-after']]).toEqual([429, '1']);
    expect((await server.admin.get('/clusters/a/api')).code).toBe(200);
    watch.close();
    await eventually('b is served', async () => (await server.admin.get('/clusters/b/api')).code === 200);
  });

  test('only credentials of a cluster, or of an administrator of the root, wake it', async () => {
    const [a, b] = [await server.create('waking-a'), await server.create('waking-b')];
    const never = await server.admin.post(clustersPath, clusterObject('waking-never'));
    expect(never.code).toBe(201);
    const id = { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true' };
    const metadata = { name: 'bootstrap-token-abcdef' };
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'bootstrap.kubernetes.io/token',
      metadata,
      stringData: id,
    };
    expect((await b.post('/api/v1/namespaces/kube-system/secrets', secret)).code).toBe(201);
    // A cluster in use is the only one in memory: a request that would wake another one gets 429.
    const watch = await a.watch(`${maps}?watch=1&timeoutSeconds=3600`);
    const codeOf = async (authorization: string, cluster = 'waking-b') =>
      (await server.server.client().get(`/clusters/${cluster}/api`, { authorization })).code;
    const [header, claims] = a.token.split('.');
    const [, , signature] = b.token.split('.');
    const refused = [
      ...['', 'Bearer', 'Bearer x', 'Basic YTpi', 'Bearer ghijkl.0123456789abcdef', `Bearer ${a.token}`],
      ...[`Bearer ${header}.${claims}.${signature}`, `Bearer ${'a'.repeat(8000)}`],
    ];
    for (const authorization of refused)
      expect([authorization, await codeOf(authorization)]).toEqual([authorization, 401]);
    expect(await codeOf(`Bearer ${b.token}`, 'waking-never')).toBe(401);
    for (const token of [b.token, 'abcdef.fedcba9876543210']) expect(await codeOf(`Bearer ${token}`)).toBe(429);
    expect((await server.admin.get('/clusters/waking-never/api')).code).toBe(429);
    watch.close();
    await eventually('b is served', async () => (await codeOf(`Bearer ${b.token}`)) === 200);
  });
});

test('a request that waits for its authentication while the cluster is deleted does not bring it back', async () => {
  const [asked, gate] = [new Deferred<void>(), new Deferred<void>()];
  const slow = defineAuthenticator({
    name: 'slow',
    make: () => ({
      reads: 'bearer token',
      async authenticate({ bearerToken }) {
        if (bearerToken !== 'slow') return undefined;
        asked.resolve();
        await gate.promise;
        return { user: { name: 'slow', uid: '', groups: ['system:masters'], extra: {} } };
      },
    }),
  });
  const server = await ClusterServer.start({}, { authenticators: [slow] });
  try {
    expect((await server.admin.post(clustersPath, clusterObject('gone'))).code).toBe(201);
    const waiting = server.server.client({ token: 'slow' }).get('/clusters/gone/api');
    await asked.promise;
    expect((await server.admin.delete(`${clustersPath}/gone`)).code).toBe(200);
    await eventually('the cluster is gone', async () => (await server.admin.get(`${clustersPath}/gone`)).code === 404);
    gate.resolve();
    expect((await waiting).code).toBe(404);
    const { components, store } = server.server.keelson;
    expect(await storedClusters(store, components.config.storage.etcd.prefix)).toEqual([]);
  } finally {
    gate.resolve();
    await server.stop();
  }
});

test('a LogicalCluster that cannot be read keeps the keys of its cluster', async () => {
  const store = new MemoryStore();
  const put = (key: string, value: string) => store.txn([], [{ type: 'put', key, value: Buffer.from(value) }]);
  await put('/registry/clusters.keelson.dev/logicalclusters/damaged', '{"kind":');
  await put(`${clusterPrefix('/registry', 'its-uid')}registry/configmaps/default/a`, '{}');
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
  const server = await ClusterServer.start({}, { store, logger });
  try {
    await eventually('the server tells it', () =>
      warnings.some((text) => text.includes('LogicalCluster cannot be read')),
    );
    expect(await storedClusters(store, '/registry')).toEqual(['its-uid']);
  } finally {
    await server.stop();
  }
});

test('a server that stops ends the watches of its clusters', async () => {
  const server = await ClusterServer.start();
  const watch = await (await server.create('a')).watch(`${maps}?watch=1&timeoutSeconds=3600`);
  const stopped = server.server.keelson.stop();
  await watch.rest();
  expect(await watch.ended).toBe('complete');
  await stopped;
  await server.stop();
});

test('after kill -9 all clusters come back with their objects and credentials, and deletions go on', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-clusters-'));
  const process = await ServerProcess.start(directory, ['--storage-backend=embedded', '--logical-clusters']);
  const { url, ca, client: certificate } = process.access;
  const admin = new HttpClient({ url, ca, ...certificate });
  const clients: HttpClient[] = [admin];
  try {
    const clusters: ClusterClient[] = [];
    for (const name of ['a', 'b', 'c']) {
      expect((await admin.post(clustersPath, clusterObject(name))).code).toBe(201);
      const issued = await admin.post(`${clustersPath}/${name}/kubeconfig`, {
        apiVersion: 'clusters.keelson.dev/v1alpha1',
        kind: 'KubeconfigRequest',
      });
      const token = tokenOf(issued.body.status.kubeconfig as string);
      const client = new HttpClient({ url, ca, token });
      clients.push(client);
      clusters.push(new ClusterClient(name, token, client));
      expect((await clusters.at(-1)!.post(maps, configMap(name))).code).toBe(201);
    }
    expect((await admin.delete(`${clustersPath}/c`)).code).toBe(200);
    await process.kill();
    for (const client of clients) client.close();
    await process.start();
    for (const cluster of clusters.slice(0, 2)) {
      expect((await cluster.get(`${maps}/${cluster.name}`)).code).toBe(200);
      expect((await cluster.get(maps)).body.items).toHaveLength(2);
    }
    await eventually('c is gone', async () => (await admin.get(`${clustersPath}/c`)).code === 404);
    expect((await clusters[2]!.get(maps)).code).toBe(401);
  } finally {
    for (const client of clients) client.close();
    await process.kill();
    await rm(directory, { recursive: true, force: true });
  }
});
