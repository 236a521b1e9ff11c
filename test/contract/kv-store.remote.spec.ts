import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyedProvider } from '../../src/encryption/providers/keyed-provider.js';
import { revisionOf, type Revision } from '../../src/machinery/revision.js';
import { systemClock } from '../../src/std/clock.js';
import { silentLogger } from '../../src/std/logger.js';
import { SeededRng } from '../../src/std/rng.js';
import { valueBytesMax } from '../../src/storage/backends/call-rules.js';
import { EmbeddedStore } from '../../src/storage/backends/embedded/embedded-store.js';
import { FileReader } from '../../src/storage/backends/embedded/file-reader.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { FaultyStore } from '../../src/storage/decorators/faulty-store.js';
import { SharedWatchStore } from '../../src/storage/decorators/shared-watches.js';
import { TransformedStore } from '../../src/storage/decorators/transformed-store.js';
import type { KvStore, StoreEvent } from '../../src/storage/kv-store.js';
import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { eventually } from '../harness/eventually.js';
import { remoteStore } from '../harness/remote-store.js';
import { kvStoreContract } from './kv-store.contract.js';

async function openShared(directory: string): Promise<KvStore> {
  const opened = await EmbeddedStore.open({ directory });
  return remoteStore(opened, FileReader.open({ directory, clock: systemClock, logger: silentLogger }));
}

// The store of a worker, which the first process has opened, and watches that several processes share.
const facts = { valueBytesMax, isDurable: false };

kvStoreContract('shared watches', async () => ({ store: new SharedWatchStore(new MemoryStore()) }), facts);

kvStoreContract(
  'shared watches that are delayed',
  async () => {
    const plan = { clock: systemClock, rng: new SeededRng(3), delay: { oneIn: 10, msMax: 2 } };
    return { store: new SharedWatchStore(new FaultyStore(new MemoryStore(), plan)) };
  },
  facts,
);

kvStoreContract('remote memory', async () => ({ store: await remoteStore(new MemoryStore()) }), facts);

kvStoreContract(
  'remote and encrypted',
  async () => {
    const { transformer } = keyedProvider('aesgcm', [{ name: 'k', secret: Buffer.alloc(32, 7) }]);
    const transforms = { of: () => transformer, addResource: () => undefined };
    return { store: await remoteStore(new TransformedStore(new MemoryStore(), transforms, systemClock)) };
  },
  { valueBytesMax: valueBytesMax - 30, isDurable: false },
);

const openEmbedded = async (directory: string) => remoteStore(await EmbeddedStore.open({ directory }));

for (const { name, open } of [
  { name: 'remote embedded', open: openEmbedded },
  { name: 'remote embedded, values read from the file', open: openShared },
]) {
  kvStoreContract(
    name,
    async () => {
      const directory = await mkdtemp(join(tmpdir(), 'keelson-contract-'));
      let store = await open(directory);
      return {
        store,
        reopen: async () => {
          await store.close();
          return (store = await open(directory));
        },
        dispose: () => rm(directory, { recursive: true, force: true }),
      };
    },
    { valueBytesMax, isDurable: true },
  );
}

describeWithEtcd('remote etcd', () => {
  let cluster: EtcdCluster;
  beforeAll(async () => {
    cluster = await EtcdCluster.start();
  });
  afterAll(() => cluster.stop());

  kvStoreContract(
    'remote etcd',
    async () => {
      const open = async () => remoteStore(await cluster.openStore());
      let store = await open();
      return {
        store,
        reopen: async () => {
          await store.close();
          return (store = await open());
        },
      };
    },
    { valueBytesMax: 1_500_000, isDurable: true },
  );
});

test('the summary of a value reaches the store of the first process, and comes back with the value', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-remote-'));
  const store = await remoteStore(await EmbeddedStore.open({ directory }));
  const summary = Buffer.from('summary');
  await store.txn([], [{ type: 'put', key: '/a', value: Buffer.from('v'), summarize: () => summary }]);
  await store.txn([], [{ type: 'put', key: '/b', value: Buffer.from('v') }]);
  const { items } = await store.range('/');
  expect(items.map((item) => item.summary?.toString())).toEqual(['summary', undefined]);
  await store.close();
  await rm(directory, { recursive: true, force: true });
});

describe('a remote embedded store whose values are read from the file', () => {
  let directory: string;
  let store: KvStore;
  const summarize = () => Buffer.from('summary');
  const put = async (key: string, value: string) =>
    (await store.txn([], [{ type: 'put', key, value: Buffer.from(value), summarize }])).revision;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'keelson-remote-'));
    store = await openShared(directory);
  });
  afterEach(async () => {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });

  test('deferred values of a range are read later, also after they were replaced', async () => {
    const [first, second] = ['first'.repeat(500), 'second'.repeat(500)];
    const revision = await put('/a', first);
    const { items } = await store.range('/', { defersValues: true });
    await put('/a', second);
    const { deferred, value } = items[0]!;
    expect(value.length).toBe(0);
    expect(deferred!.length).toBe(first.length);
    expect(deferred!.read('/a', revision).toString()).toBe(first);
    expect(() => deferred!.read('/a', (revision + 100) as Revision)).toThrow('no longer kept');
  });

  test('values of events can be read again at once', async () => {
    const events: StoreEvent[] = [];
    const read: string[] = [];
    store.watch(
      '/',
      { from: revisionOf(2) },
      {
        events: (batch) => {
          for (const event of batch) {
            events.push(event);
            read.push(event.item!.reread!(event.key, event.revision).toString());
          }
        },
        progress: () => undefined,
        ended: () => undefined,
      },
    );
    for (let n = 0; n < 50; n++) await put(`/k${n % 5}`, `value-${n}`);
    await eventually('all events arrive', () => events.length === 50);
    expect(read).toEqual(events.map(({ item }) => item!.value.toString()));
    expect(read).toEqual(Array.from({ length: 50 }, (_, n) => `value-${n}`));
  });

  test('values that are encrypted at rest are neither deferred nor read again', async () => {
    await store.close();
    const { transformer } = keyedProvider('aesgcm', [{ name: 'k', secret: Buffer.alloc(32, 7) }]);
    const transforms = { of: () => transformer, addResource: () => undefined };
    const encrypted = new TransformedStore(await EmbeddedStore.open({ directory }), transforms, systemClock);
    store = await remoteStore(encrypted, FileReader.open({ directory, clock: systemClock, logger: silentLogger }));
    const events: StoreEvent[] = [];
    store.watch(
      '/',
      { from: revisionOf(2) },
      {
        events: (batch) => void events.push(...batch),
        progress: () => undefined,
        ended: () => undefined,
      },
    );
    await put('/secret', 'plain');
    const { items } = await store.range('/', { defersValues: true });
    expect(items.map(({ value, deferred }) => [value.toString(), deferred])).toEqual([['plain', undefined]]);
    await eventually('the event arrives', () => events.length === 1);
    expect(events[0]!.item!.reread).toBeUndefined();
  });
});
