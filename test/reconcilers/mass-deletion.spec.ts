import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { EmbeddedStore } from '../../src/storage/backends/embedded/embedded-store.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { startKeelson } from '../../src/testing.js';
import { HttpClient, type Answer } from '../harness/http-client.js';
import { ServerProcess } from '../harness/server-process.js';
import { untilGone } from '../harness/until.js';

/** MASS_OBJECTS=5000 is used for measurements. */
const count = Number(process.env['MASS_OBJECTS'] ?? 240);
const numbers = (length: number) => Array.from({ length }, (_, index) => index);
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const namespaces = '/api/v1/namespaces';
const podSpec = { containers: [{ name: 'c', image: 'i' }] };

/** Objects in the namespace, by collection. */
const collections: readonly [path: string, body: object][] = [
  [`${namespaces}/full/configmaps`, { data: { a: 'b' } }],
  [`${namespaces}/full/secrets`, { stringData: { a: 'b' } }],
  [`${namespaces}/full/pods`, { spec: podSpec }],
  [`${namespaces}/full/services`, { spec: { ports: [{ port: 80 }] } }],
  ['/apis/coordination.k8s.io/v1/namespaces/full/leases', {}],
  [
    '/apis/apps/v1/namespaces/full/deployments',
    {
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: podSpec },
      },
    },
  ],
];

async function made(answer: Promise<Answer>): Promise<KubeObject> {
  const { code, body } = await answer;
  expect([code, body.message]).toEqual([201, undefined]);
  return body as KubeObject;
}
async function each<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const waiting = items.values();
  const lane = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(numbers(16).map(lane));
}

/** Removes the finalizers of deleted objects. */
async function release(admin: HttpClient): Promise<void> {
  for (const [collection] of collections) {
    const { body } = await admin.get(collection);
    const held = (body.items as KubeObject[]).filter(
      ({ metadata }) => metadata.deletionTimestamp && metadata.finalizers,
    );
    await each(held, ({ metadata }) =>
      admin.patch(`${collection}/${metadata.name}`, { metadata: { finalizers: null } }),
    );
  }
}

it(`a namespace with ${count} objects is deleted completely, though the server is killed meanwhile`, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-mass-'));
  const server = await ServerProcess.start(directory, ['--storage-backend=embedded']);
  const { url, ca, client } = server.access;
  const admin = new HttpClient({ url, ca, ...client });
  try {
    await made(admin.post(namespaces, { metadata: { name: 'full' } }));
    const service = `${namespaces}/full/serviceaccounts/default`;
    while ((await admin.get(service)).code !== 200) await sleep(20);
    await each(numbers(count), (at) => {
      const [collection, body] = collections[at % collections.length]!;
      const finalizers = Math.floor(at / collections.length) % 4 === 0 ? ['example.com/hold'] : [];
      return made(admin.post(collection, { ...body, metadata: { name: `o${at}`, finalizers } }));
    });
    expect((await admin.delete(`${namespaces}/full`)).code).toBe(200);
    for (const ms of [150, 250]) {
      await sleep(ms);
      await server.kill();
      await server.start();
    }
    for (let isGone = false; !isGone;) {
      // A connection from before the restart fails.
      const answer = await admin.get(`${namespaces}/full`).catch(() => undefined);
      isGone = answer?.code === 404;
      if (answer && !isGone) await release(admin);
      await sleep(50);
    }
    await server.kill();
    const store = await EmbeddedStore.open({ directory: join(directory, 'store') });
    const { items } = await store.range('/registry/').finally(() => store.close());
    expect(items.map(({ key }) => key).filter((key) => key.includes('/full/') || key.endsWith('/full'))).toEqual([]);
  } finally {
    admin.close();
    await server.kill();
    await rm(directory, { recursive: true, force: true });
  }
});

describe('a half-completed deletion', () => {
  const store = new MemoryStore();
  const running: { stop(): Promise<void> }[] = [];
  afterAll(async () => {
    for (const one of running) await one.stop();
    await store.close();
  });
  const start = async (controllers: string[]) => {
    const keelson = await startKeelson({ store, config: { reconcilers: { controllers } } });
    const admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
    running.push({ stop: async () => (admin.close(), keelson.stop()) });
    return admin;
  };
  /** Leaves an object as a server does that is killed between the two writes. */
  async function halfDelete(key: string): Promise<void> {
    const { item } = await store.get(key);
    const pod = JSON.parse(item!.value.toString()) as KubeObject;
    Object.assign(pod.metadata, { deletionTimestamp: '2026-01-02T03:04:05Z', deletionGracePeriodSeconds: 0 });
    await store.txn([], [{ type: 'put', key, value: Buffer.from(JSON.stringify(pod)) }]);
  }

  it('is completed with its namespace, by another DELETE, and at the next start', async () => {
    const idle = await start([]);
    const key = (name: string) => `/registry/pods/${name}/p`;
    for (const name of ['with', 'again', 'start']) {
      await made(idle.post(namespaces, { metadata: { name } }));
      await made(idle.post(`${namespaces}/${name}/serviceaccounts`, { metadata: { name: 'default' } }));
      await made(
        idle.post(`${namespaces}/${name}/pods`, { metadata: { name: 'p' }, spec: { ...podSpec, nodeName: 'n' } }),
      );
      await halfDelete(key(name));
    }
    expect((await idle.delete(`${namespaces}/again/pods/p`)).code).toBe(200);
    expect((await store.get(key('again'))).item).toBeUndefined();

    expect((await idle.delete(`${namespaces}/with`)).code).toBe(200);
    const emptying = await start(['namespace-controller']);
    await untilGone(emptying, namespaces, 'with');
    expect((await store.get(key('with'))).item).toBeUndefined();

    const collecting = await start(['garbage-collector-controller']);
    await untilGone(collecting, `${namespaces}/start/pods`, 'p');
    expect((await store.get(key('start'))).item).toBeUndefined();
  });
});

describe.each(['Background', 'Foreground'])(
  `${count} dependents of one object, deleted with the policy %s`,
  (policy) => {
    const store = new MemoryStore();
    const configMaps = `${namespaces}/default/configmaps`;
    let transactions = 0;

    it('are deleted with the minimum number of writes', async () => {
      const txn = store.txn.bind(store);
      store.txn = (...words) => {
        transactions++;
        return txn(...words);
      };
      const keelson = await startKeelson({ store });
      const admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
      try {
        const make = (name: string, owner?: KubeObject) => {
          const { name: owned, uid } = owner?.metadata ?? {};
          const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: owned, uid, blockOwnerDeletion: true };
          return made(admin.post(configMaps, { metadata: { name, ...(owner && { ownerReferences: [reference] }) } }));
        };
        const root = await make('root');
        const branches: KubeObject[] = [];
        for (const at of numbers(12)) branches.push(await make(`branch-${at}`, root));
        await each(numbers(count), (at) => make(`leaf-${at}`, branches[at % branches.length]));
        const before = transactions;
        expect((await admin.delete(`${configMaps}/root?propagationPolicy=${policy}`)).code).toBe(200);
        await untilGone(admin, configMaps, 'root');
        for (;;) {
          const { body } = await admin.get(configMaps);
          if ((body.items as KubeObject[]).every(({ metadata }) => metadata.name!.startsWith('kube-'))) break;
          await sleep(20);
        }
        // Foreground deletion first marks those that wait. A few more are the server's own writes and retries.
        const due = count + (branches.length + 1) * (policy === 'Foreground' ? 2 : 1);
        expect(transactions - before).toBeGreaterThanOrEqual(due);
        expect(transactions - before).toBeLessThan(due * 1.1 + 10);
      } finally {
        admin.close();
        await keelson.stop();
        await store.close();
      }
    });
  },
);
