import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyedProvider } from '../../src/encryption/providers/keyed-provider.js';
import { systemClock } from '../../src/std/clock.js';
import { SeededRng } from '../../src/std/rng.js';
import { valueBytesMax } from '../../src/storage/backends/call-rules.js';
import { EmbeddedStore } from '../../src/storage/backends/embedded/embedded-store.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { FaultyStore } from '../../src/storage/decorators/faulty-store.js';
import { SharedWatchStore } from '../../src/storage/decorators/shared-watches.js';
import { TransformedStore } from '../../src/storage/decorators/transformed-store.js';
import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { remoteStore } from '../harness/remote-store.js';
import { kvStoreContract } from './kv-store.contract.js';

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

kvStoreContract(
  'remote embedded',
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'keelson-contract-'));
    const open = async () => remoteStore(await EmbeddedStore.open({ directory }));
    let store = await open();
    return {
      store,
      reopen: async () => {
        await store.close();
        return (store = await open());
      },
      dispose: () => rm(directory, { recursive: true, force: true }),
    };
  },
  { valueBytesMax, isDurable: true },
);

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
