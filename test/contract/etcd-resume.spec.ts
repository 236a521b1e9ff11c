import { setTimeout as pause } from 'node:timers/promises';
import { revisionOf, type Revision } from '../../src/machinery/revision.js';
import { systemRng } from '../../src/std/rng.js';
import { silentLogger } from '../../src/std/logger.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import { StorageError } from '../../src/storage/storage-error.js';
import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { EtcdProxy } from '../harness/etcd-proxy.js';
import { Recorder } from './kv-store.contract.js';

const prefix = '/resume/';

/** Writes two keys per transaction until it is stopped; unavailable writes are repeated. */
function startWriters(store: KvStore, count: number) {
  let isStopped = false;
  const acknowledged: Revision[] = [];
  const errors: unknown[] = [];
  const writer = async (id: number) => {
    for (let i = 0; !isStopped; i++) {
      const value = Buffer.from(`${i}`);
      try {
        const result = await store.txn(
          [],
          [
            { type: 'put', key: `${prefix}${id}/a`, value },
            { type: 'put', key: `${prefix}${id}/b`, value },
          ],
        );
        acknowledged.push(result.revision);
      } catch (error) {
        if (!(error instanceof StorageError && ['unavailable', 'outcomeUnknown'].includes(error.code)))
          errors.push(error);
        await pause(5);
      }
    }
  };
  const done = Promise.all(Array.from({ length: count }, (_, id) => writer(id)));
  return {
    acknowledged,
    /** Resolves when at least `more` further writes were acknowledged. */
    async wrote(more: number) {
      const goal = acknowledged.length + more;
      while (acknowledged.length < goal) await pause(5);
    },
    async stop() {
      isStopped = true;
      await done;
      expect(errors).toEqual([]);
    },
  };
}

/** Checks that no event was lost: there is no other writer, so every revision has events. */
async function expectNoneLost(recorder: Recorder, base: number, store: KvStore): Promise<void> {
  const last = await store.revision();
  await recorder.reached(last);
  const revisions = recorder.delivered.map(({ revision }) => revision);
  const want = Array.from({ length: last - base }, (_, i) => [base + 1 + i, base + 1 + i]).flat();
  expect(revisions).toEqual(want);
  for (const { events } of recorder.batches) expect(events.length % 2).toBe(0);
}

describeWithEtcd('an etcd watch resumes without loss or duplicates', () => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  const start = async (size = 1, options = {}) => {
    const cluster = await EtcdCluster.start(size, options);
    closing.push(() => cluster.stop());
    return cluster;
  };
  const open = async (cluster: EtcdCluster, options = {}) => {
    const store = await cluster.openStore(options);
    closing.push(() => store.close());
    return store;
  };
  /** A store whose connection to etcd can be cut, and one with a direct connection. */
  const startCuttable = async () => {
    const cluster = await start();
    const direct = await open(cluster);
    const proxy = await EtcdProxy.start(cluster.storeOptions.servers[0]!);
    closing.push(() => proxy.stop());
    return { direct, proxy, store: await open(cluster, { servers: [proxy.url] }) };
  };
  const watch = (store: KvStore, from: number) => {
    const recorder = new Recorder(prefix);
    recorder.watch = store.watch(prefix, { from: revisionOf(from) }, recorder);
    return recorder;
  };

  it('after etcd is killed under load and restarted', async () => {
    const cluster = await start();
    const store = await open(cluster);
    const base = await store.revision();
    const recorder = watch(store, base + 1);
    const writers = startWriters(store, 8);
    for (let life = 0; life < 2; life++) {
      await writers.wrote(200);
      await cluster.members[0]!.kill();
      await pause(300);
      cluster.members[0]!.start();
    }
    await writers.wrote(200);
    await writers.stop();
    await expectNoneLost(recorder, base, store);
    expect(new Set(recorder.delivered.map(({ revision }) => revision))).toEqual(
      new Set([...recorder.delivered.map(({ revision }) => revision), ...writers.acknowledged]),
    );
  });

  it('after the leader of three members is killed under load', async () => {
    const cluster = await start(3);
    const first = await cluster.leader();
    // The leader first: with this random number clients connect to the first member.
    const servers = [first, ...cluster.members.filter((member) => member !== first)].map(
      ({ address }) => address.client,
    );
    // Otherwise a write to the dead leader would wait for etcd's timeout of six seconds.
    const store = await open(cluster, { servers, callTimeoutMs: 1_500, rng: { ...systemRng, below: () => 0 } });
    const base = await store.revision();
    const recorder = watch(store, base + 1);
    const writers = startWriters(store, 8);
    await writers.wrote(200);
    await first.kill();
    await writers.wrote(200);
    const second = await cluster.leader();
    expect(second).not.toBe(first);
    first.start();
    await first.serving();
    await second.kill();
    await writers.wrote(200);
    await writers.stop();
    await expectNoneLost(recorder, base, store);
  });

  it('after a member loses its leader while the connection stays open', async () => {
    const cluster = await start(3);
    // Three members may take longer to elect a leader than the timeout of a call.
    await cluster.leader();
    const [alone, ...others] = cluster.members;
    const reasons: unknown[] = [];
    const logger = { ...silentLogger, warn: (_: string, fields?: object) => void reasons.push(fields) };
    const store = await open(cluster, { servers: [alone!.address.client], callTimeoutMs: 1_500, logger });
    const base = await store.revision();
    const recorder = watch(store, base + 1);
    const writers = startWriters(store, 2);
    await writers.wrote(20);
    await Promise.all(others.map((member) => member.kill()));
    while (reasons.length === 0) await pause(20);
    expect(reasons).toEqual([expect.objectContaining({ error: expect.stringContaining('no leader') })]);
    for (const member of others) member.start();
    await writers.wrote(20);
    await writers.stop();
    await expectNoneLost(recorder, base, store);
  });

  it('after repeated cuts of the connection within a response', async () => {
    const { direct, proxy, store } = await startCuttable();
    const base = await store.revision();
    const recorder = watch(store, base + 1);
    const writers = startWriters(direct, 8);
    for (let cuts = 0; cuts < 6; cuts++) {
      await writers.wrote(150);
      proxy.cut();
      await writers.wrote(150);
      proxy.heal();
      await recorder.changed();
    }
    await writers.stop();
    await expectNoneLost(recorder, base, direct);
  });

  it('ends with compacted if its revision was compacted meanwhile', async () => {
    const { direct, proxy, store } = await startCuttable();
    const recorder = watch(store, (await store.revision()) + 1);
    const put = (key: string) => direct.txn([], [{ type: 'put', key: prefix + key, value: Buffer.from(key) }]);
    await recorder.reached((await put('seen')).revision);
    proxy.cut();
    await put('unseen');
    await direct.compact((await put('latest')).revision);
    proxy.heal();
    await recorder.failed();
    expect(recorder.error).toMatchObject({ name: 'StorageError', code: 'compacted' });
    expect(recorder.keys).toEqual(['seen']);
  });

  it('after progress notifications alone, also past a compaction', async () => {
    const { direct, proxy, store } = await startCuttable();
    const recorder = watch(store, (await store.revision()) + 1);
    const put = (key: string) => direct.txn([], [{ type: 'put', key, value: Buffer.from(key) }]);
    await put('/elsewhere/a');
    const far = (await put('/elsewhere/b')).revision;
    while (recorder.revision < far) {
      recorder.watch!.requestProgress();
      await recorder.changed();
    }
    proxy.cut();
    await direct.compact(far);
    proxy.heal();
    await recorder.reached((await put(`${prefix}a`)).revision);
    expect([recorder.keys, recorder.error]).toEqual([['a'], undefined]);
  });
});

describeWithEtcd('an etcd watch that lags far behind', () => {
  it('gets no progress ahead of events, and large revisions whole', async () => {
    const cluster = await EtcdCluster.start();
    const store = await cluster.openStore();
    const base = await store.revision();
    const value = Buffer.alloc(11_000, 'x');
    // 1.1 MB each: with their previous values, several need a response that etcd splits into fragments.
    for (let revision = 0; revision < 12; revision++) {
      const keys = Array.from({ length: 100 }, (_, i) => `${prefix}large/${i}`);
      await store.txn(
        [],
        keys.map((key) => ({ type: 'put', key, value })),
      );
    }
    for (let batch = 0; batch < 60; batch++) {
      const puts = Array.from({ length: 50 }, (_, i) =>
        store.txn([], [{ type: 'put', key: `${prefix}small/${i}`, value: Buffer.from('x') }]),
      );
      await Promise.all(puts);
    }
    const last = await store.revision();
    const recorder = new Recorder(prefix);
    recorder.watch = store.watch(prefix, { from: revisionOf(base + 1), withPrevious: true }, recorder);
    while (recorder.revision < last) {
      recorder.watch.requestProgress();
      await recorder.changed();
      if (recorder.error) throw recorder.error;
    }
    expect(recorder.delivered).toHaveLength(12 * 100 + 60 * 50);
    const revisions = recorder.batches.map(({ events }) => new Set(events.map(({ revision }) => revision)));
    for (const [index, batch] of recorder.batches.entries()) {
      expect(Math.min(...revisions[index]!)).toBe(base + 1 + revisions.slice(0, index).reduce((n, r) => n + r.size, 0));
      expect(batch.revision).toBe(Math.max(...revisions[index]!));
    }
    await store.close();
    await cluster.stop();
  });
});
