import {
  defaultConfig,
  defineStorageBackend,
  loadConfig,
  type BackendDefinition,
  type KvStore,
} from '../../src/index.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { eventually } from '../harness/eventually.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

/** A store that notes what the server does with it. */
class JournalStore extends MemoryStore {
  readonly writtenKeys: string[] = [];
  compactions = 0;
  isEnded = false;

  override txn(...args: Parameters<KvStore['txn']>): ReturnType<KvStore['txn']> {
    this.writtenKeys.push(...args[1].map(({ key }) => key));
    return super.txn(...args);
  }

  override compact(...args: Parameters<KvStore['compact']>): Promise<void> {
    this.compactions++;
    return super.compact(...args);
  }

  override close(): Promise<void> {
    this.isEnded = true;
    return super.close();
  }
}

let opened: JournalStore[] = [];

/** Adds a storage backend to a server, as ARCHITECTURE says for programs that embed it. */
const journal = defineStorageBackend({
  name: 'journal',
  isShared: false,
  compactedBy: 'store',
  async open({ clock }) {
    const store = new JournalStore({ clock });
    opened.push(store);
    return store;
  },
});

const running: TestServer[] = [];
async function start(backend: BackendDefinition, etcd = {}) {
  const config = { storage: { backend: backend.name, etcd } };
  const server = await startTestServer(
    { store: 'memory', naming: 'kubernetes' },
    { storageBackends: [backend], config },
  );
  running.push(server);
  return server;
}
beforeEach(() => void (opened = []));
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

it('opens the store, keeps its objects there, and closes it', async () => {
  const server = await start(journal);
  const configMaps = '/api/v1/namespaces/default/configmaps';
  await server.admin.post(configMaps, { metadata: { name: 'settings' }, data: { a: '1' } });
  expect((await server.admin.get(`${configMaps}/settings`)).body.data).toEqual({ a: '1' });
  expect(opened).toHaveLength(1);
  expect(opened[0]!.writtenKeys).toContain('/registry/configmaps/default/settings');
  await running.pop()!.stop();
  expect(opened[0]!.isEnded).toBe(true);
});

it.each([
  ['elects no leader on a store of its own', journal, 404],
  ['elects a leader on a shared store', defineStorageBackend({ ...journal, isShared: true }), 200],
])('%s (leader election)', async (_what, backend, code) => {
  const { admin } = await start(backend);
  const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/keelson-reconcilers';
  if (code === 200) await eventually('a leader', async () => (await admin.get(lease)).code === 200);
  else expect((await admin.get(lease)).code).toBe(code);
});

it.each([
  ['leaves compaction to a store that does it', journal, false],
  ['compacts a store that does not', defineStorageBackend({ ...journal, compactedBy: 'server' }), true],
])('%s (compaction)', async (_what, backend, want) => {
  await start(backend, { compactionIntervalMs: 50 });
  const store = opened[0]!;
  const bids = () => store.writtenKeys.filter((key) => key === 'compact_rev_key').length;
  if (want) await eventually('a compaction', () => store.compactions > 0 && bids() > 1);
  expect([bids() > 0, store.compactions > 0]).toEqual([want, want]);
});

it('--storage-backend accepts the name, and no unknown one', () => {
  const load = (name: string) => loadConfig([`--storage-backend=${name}`], {}, { defaults: 'keelson', storageBackends: [journal] }); // prettier-ignore
  expect(load('journal')).toMatchObject({ config: { storage: { backend: 'journal' } } });
  const errors = ['--storage-backend: "jurnal" must be one of embedded, memory, etcd3, journal'];
  expect(load('jurnal')).toEqual({ errors });
  expect(() => defaultConfig({ storage: { backend: 'journal' } })).toThrow(
    '--storage-backend: "journal" must be one of embedded, memory, etcd3',
  );
});

it('a name that the server has already is refused', async () => {
  await expect(start(defineStorageBackend({ ...journal, name: 'memory' }))).rejects.toThrow(
    'storage backend memory is defined twice',
  );
});
