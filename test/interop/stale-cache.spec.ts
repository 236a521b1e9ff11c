import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { startKeelson } from '../../src/testing.js';
import { HttpClient } from '../harness/http-client.js';
import { until } from '../harness/until.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
const finalizers = ['example.com/hold'];

/** The same store, with watches that can be paused. */
function holdable(store: KvStore) {
  let isHeld = false;
  const waiting: (() => void)[] = [];
  const pass = (tell: () => void) => void (isHeld ? waiting.push(tell) : tell());
  const held: KvStore = {
    get: store.get.bind(store),
    range: store.range.bind(store),
    txn: store.txn.bind(store),
    revision: store.revision.bind(store),
    compact: store.compact.bind(store),
    close: () => Promise.resolve(),
    watch: (prefix, options, sink) =>
      store.watch(prefix, options, {
        events: (events, revision) => pass(() => sink.events(events, revision)),
        progress: (revision) => pass(() => sink.progress(revision)),
        ended: (error) => sink.ended(error),
      }),
  };
  const hold = () => (isHeld = true);
  const release = () => {
    isHeld = false;
    for (const tell of waiting.splice(0)) tell();
  };
  return { held, hold, release };
}

type Undo = (() => Promise<void> | void)[];

async function startOn(store: KvStore, undo: Undo): Promise<HttpClient> {
  const keelson = await startKeelson({ store, config: { reconcilers: { controllers: [] } } });
  const admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
  undo.push(async () => (admin.close(), keelson.stop()));
  return admin;
}

/** The cache of one server lacks the changes of the other; its answers must be correct all the same. */
describe('a server whose cache is stale', () => {
  const store = new MemoryStore();
  const { held, hold, release } = holdable(store);
  const undo: Undo = [];
  let other: HttpClient;
  let admin: HttpClient;
  beforeAll(async () => {
    other = await startOn(store, undo);
    admin = await startOn(held, undo);
    for (const name of ['going', 'changed', 'gone']) await other.post(configMaps, { metadata: { name, finalizers } });
    await other.delete(`${configMaps}/going`);
    await other.post(configMaps, { metadata: { name: 'last' } });
    await until(admin, configMaps, 'last', (object) => object !== undefined);
    hold();
    await other.patch(`${configMaps}/going`, { metadata: { finalizers: null } });
    await other.patch(`${configMaps}/changed`, { data: { a: 'b' } });
    await other.patch(`${configMaps}/gone`, { metadata: { finalizers: null } });
    await other.delete(`${configMaps}/gone`);
  });
  afterAll(async () => {
    release();
    for (const step of undo.reverse()) await step();
    await store.close();
  });

  it.each([
    ['a deletion of a terminating object', () => admin.delete(`${configMaps}/going`), 404],
    ['a dry-run deletion', () => admin.delete(`${configMaps}/gone?dryRun=All`), 404],
    ['a dry-run patch', () => admin.patch(`${configMaps}/gone?dryRun=All`, { data: { c: 'd' } }), 404],
    ['a patch without a change of a deleted object', () => admin.patch(`${configMaps}/gone`, {}), 404],
    ['a patch without a change of a changed object', () => admin.patch(`${configMaps}/changed`, {}), 200],
  ])('%s', async (_name, ask, code) => {
    const answer = await ask();
    expect([answer.code, answer.body.data]).toEqual([code, code === 200 ? { a: 'b' } : undefined]);
  });
});

/** A changed definition gives its kind another cache; readers that wait at the old cache must read from the new one. */
it('readers that wait while the definition changes lose nothing', async () => {
  const store = new MemoryStore();
  const { held, hold, release } = holdable(store);
  const undo: Undo = [];
  try {
    const other = await startOn(store, undo);
    const admin = await startOn(held, undo);
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const lamps = '/apis/shop.example.com/v1/namespaces/default/lamps';
    const spec = (additionalPrinterColumns: object[]) => ({
      group: 'shop.example.com',
      scope: 'Namespaced',
      names: { plural: 'lamps', kind: 'Lamp' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
          additionalPrinterColumns,
        },
      ],
    });
    const name = 'lamps.shop.example.com';
    await other.post(definitions, { metadata: { name }, spec: spec([]) });
    const isEstablished = (object: KubeObject | undefined) =>
      JSON.stringify(object?.['status'] ?? {}).includes('InitialNamesAccepted');
    for (const client of [other, admin]) await until(client, definitions, name, isEstablished);
    expect((await admin.get(lamps)).code).toBe(200);

    hold();
    const column = { name: 'Color', type: 'string', jsonPath: '.metadata.name' };
    await other.patch(`${definitions}/${name}`, { spec: spec([column]) });
    expect((await other.post(lamps, { metadata: { name: 'late' } })).code).toBe(201);
    const reading = Promise.all([admin.get(`${lamps}/late`), admin.get(lamps), until(admin, lamps, 'late', Boolean)]);
    await sleep(200);
    release();
    const [one, list, watched] = await reading;
    expect([one.code, one.body.metadata?.name]).toEqual([200, 'late']);
    expect([list.code, list.body['items']]).toEqual([200, [expect.objectContaining({ kind: 'Lamp' })]]);
    expect(watched?.metadata.name).toBe('late');
  } finally {
    release();
    for (const step of undo.reverse()) await step();
    await store.close();
  }
});
