import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { HttpClient } from '../harness/http-client.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until, untilGone } from '../harness/until.js';

const namespaces = '/api/v1/namespaces';
const configMaps = (namespace: string) => `${namespaces}/${namespace}/configmaps`;
const merge = { 'content-type': 'application/merge-patch+json' };
const embedded = { store: 'embedded', naming: 'kubernetes' } as const;

async function make(admin: HttpClient, collection: string, object: object): Promise<KubeObject> {
  const answer = await admin.post(collection, object);
  expect([answer.code, answer.body.message]).toEqual([201, undefined]);
  return answer.body as KubeObject;
}
const release = (admin: HttpClient, path: string) =>
  admin.request('PATCH', path, { body: { metadata: { finalizers: null } }, headers: merge });

interface Conditions {
  conditions?: { type: string; status: string; message: string }[];
}
const condition = (namespace: KubeObject | undefined, type: string) =>
  (namespace?.['status'] as Conditions | undefined)?.conditions?.find((found) => found.type === type);
const isHeld = (namespace: KubeObject | undefined) =>
  condition(namespace, 'NamespaceFinalizersRemaining')?.status === 'True';

describe.each(['kubernetes', 'svc'] as const)('with the naming profile %s, a deleted namespace', (naming) => {
  let server: TestServer;
  let admin: HttpClient;
  beforeAll(async () => {
    server = await startTestServer({ store: 'memory', naming });
    admin = server.admin;
  });
  afterAll(() => server.stop());

  it('deletes everything in it, and is deleted', async () => {
    await make(admin, namespaces, { metadata: { name: 'full' } });
    await Promise.all(
      Array.from({ length: 40 }, (_, at) => make(admin, configMaps('full'), { metadata: { name: `c${at}` } })),
    );
    await make(admin, `${namespaces}/full/pods`, {
      metadata: { name: 'unscheduled' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    await make(admin, '/apis/apps/v1/namespaces/full/deployments', {
      metadata: { name: 'd', finalizers: ['foregroundDeletion'] },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });
    expect((await admin.delete(`${namespaces}/full`)).body.status.phase).toBe('Terminating');
    await untilGone(admin, namespaces, 'full');
    expect((await admin.get(configMaps('full'))).body.items).toEqual([]);
    expect((await admin.get('/apis/apps/v1/deployments?fieldSelector=metadata.namespace=full')).body.items).toEqual([]);
  });

  it('waits for finalizers with conditions, and is deleted when they are removed', async () => {
    await make(admin, namespaces, { metadata: { name: 'held' } });
    await make(admin, configMaps('held'), { metadata: { name: 'h', finalizers: ['example.com/hold'] } });
    await make(admin, configMaps('held'), { metadata: { name: 'free' } });
    await admin.delete(`${namespaces}/held`);
    const waiting = await until(admin, namespaces, 'held', isHeld);
    expect(condition(waiting, 'NamespaceContentRemaining')!.message).toBe(
      'Some resources are remaining: configmaps. has 1 resource instances',
    );
    expect((await admin.get(`${configMaps('held')}/free`)).code).toBe(404);
    await release(admin, `${configMaps('held')}/h`);
    await untilGone(admin, namespaces, 'held');
  });

  it('keeps Secrets and other objects for running Pods', async () => {
    await make(admin, namespaces, { metadata: { name: 'busy' } });
    await make(admin, configMaps('busy'), { metadata: { name: 'used' } });
    await make(admin, `${namespaces}/busy/pods`, {
      metadata: { name: 'p' },
      spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
    });
    await admin.delete(`${namespaces}/busy`);
    const remains = (namespace: KubeObject | undefined) =>
      condition(namespace, 'NamespaceContentRemaining')?.status === 'True';
    await until(admin, namespaces, 'busy', remains);
    expect((await admin.get(`${namespaces}/busy/pods/p`)).body.metadata.deletionTimestamp).toBeDefined();
    expect((await admin.get(`${configMaps('busy')}/used`)).body.metadata.deletionTimestamp).toBeUndefined();
    await admin.delete(`${namespaces}/busy/pods/p?gracePeriodSeconds=0`);
    await untilGone(admin, namespaces, 'busy');
  });

  it("loses only the server's own finalizer", async () => {
    await make(admin, namespaces, { metadata: { name: 'own' } });
    const current = (await admin.get(`${namespaces}/own`)).body as KubeObject & { spec: { finalizers: string[] } };
    current.spec.finalizers.push('example.com/own');
    expect((await admin.put(`${namespaces}/own/finalize`, current)).code).toBe(200);
    await admin.delete(`${namespaces}/own`);
    const left = await until(admin, namespaces, 'own', (namespace) => {
      const { finalizers } = namespace!['spec'] as { finalizers: string[] };
      return finalizers.length === 1;
    });
    expect(left!['spec']).toEqual({ finalizers: ['example.com/own'] });
    expect(condition(left, 'NamespaceContentRemaining')!.status).toBe('False');
    await admin.put(`${namespaces}/own/finalize`, { ...left, spec: {} });
    await untilGone(admin, namespaces, 'own');
  });
});

describe.each(['9007199254740992', '4611686018427387904'])('a Pod with a grace period of %s seconds', (seconds) => {
  it('holds its namespace, which says so and is not checked in a loop, until it is removed', async () => {
    const server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
    try {
      const { admin } = server;
      await make(admin, namespaces, { metadata: { name: 'slow' } });
      const pods = `${namespaces}/slow/pods`;
      // As text, since JSON.stringify() rounds the number.
      const created = await admin.post(
        pods,
        `{"metadata":{"name":"p"},"spec":{"nodeName":"n","terminationGracePeriodSeconds":${seconds},"containers":[{"name":"c","image":"i"}]}}`,
        { 'content-type': 'application/json' },
      );
      expect([created.code, created.body.message]).toEqual([201, undefined]);
      await admin.delete(`${namespaces}/slow`);
      const waiting = await until(admin, namespaces, 'slow', (namespace) => {
        return condition(namespace, 'NamespaceContentRemaining')?.status === 'True';
      });
      expect(condition(waiting, 'NamespaceContentRemaining')!.message).toBe(
        'Some resources are remaining: pods. has 1 resource instances',
      );
      const pod = await admin.get(`${pods}/p`);
      expect(pod.text).toContain(`"deletionGracePeriodSeconds":${seconds}`);

      const passes = async () => {
        const { text } = await admin.get('/metrics');
        return Number(/^workqueue_work_duration_seconds_count\{name="namespace"\} (\d+)$/m.exec(text)![1]);
      };
      const before = await passes();
      for (let requests = 0; requests < 100; requests++) await admin.get(`${pods}/p`);
      // One more for the deletion of the Pod itself.
      expect((await passes()) - before).toBeLessThanOrEqual(1);
      expect((await admin.get(`${namespaces}/slow`)).body.metadata.resourceVersion).toBe(
        waiting!.metadata.resourceVersion,
      );
      await admin.delete(`${pods}/p?gracePeriodSeconds=0`);
      await untilGone(admin, namespaces, 'slow');
    } finally {
      await server.stop();
    }
  });
});

it('continues its deletion after a restart of the server', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-namespaces-'));
  try {
    const first = await startTestServer(embedded, { directory });
    await make(first.admin, namespaces, { metadata: { name: 'late' } });
    await make(first.admin, configMaps('late'), { metadata: { name: 'h', finalizers: ['example.com/hold'] } });
    await first.admin.delete(`${namespaces}/late`);
    await until(first.admin, namespaces, 'late', isHeld);
    await first.stop();

    const idle = await startTestServer(embedded, {
      directory,
      config: { reconcilers: { controllers: ['*', '-namespace'] } },
    });
    await release(idle.admin, `${configMaps('late')}/h`);
    expect((await idle.admin.get(`${namespaces}/late`)).body.status.phase).toBe('Terminating');
    await idle.stop();

    const last = await startTestServer(embedded, { directory });
    await untilGone(last.admin, namespaces, 'late');
    await last.stop();
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
