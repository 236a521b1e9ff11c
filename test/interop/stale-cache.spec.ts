import type { KvStore } from '../../src/storage/kv-store.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { startKeelson } from '../../src/testing.js';
import { HttpClient } from '../harness/http-client.js';
import { until } from '../harness/until.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
const finalizers = ['example.com/hold'];

/** The same store, whose watches tell nothing new for as long as they are held. */
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

/** The other server's changes have not come to this one's cache; what it answers is true all the same. */
describe('a server that has not heard of what another did', () => {
  const store = new MemoryStore();
  const { held, hold, release } = holdable(store);
  const undo: (() => Promise<void> | void)[] = [];
  const start = async (on: KvStore) => {
    const keelson = await startKeelson({ store: on, config: { reconcilers: { controllers: [] } } });
    const admin = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
    undo.push(async () => (admin.close(), keelson.stop()));
    return admin;
  };
  let other: HttpClient;
  let admin: HttpClient;
  beforeAll(async () => {
    other = await start(store);
    admin = await start(held);
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
    ['a deletion of what is going', () => admin.delete(`${configMaps}/going`), 404],
    ['a dry deletion', () => admin.delete(`${configMaps}/gone?dryRun=All`), 404],
    ['a dry patch', () => admin.patch(`${configMaps}/gone?dryRun=All`, { data: { c: 'd' } }), 404],
    ['a patch of nothing, of what has gone', () => admin.patch(`${configMaps}/gone`, {}), 404],
    ['a patch of nothing, of what has changed', () => admin.patch(`${configMaps}/changed`, {}), 200],
  ])('%s', async (_name, ask, code) => {
    const answer = await ask();
    expect([answer.code, answer.body.data]).toEqual([code, code === 200 ? { a: 'b' } : undefined]);
  });
});
