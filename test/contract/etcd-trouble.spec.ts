import { revisionOf } from '../../src/machinery/revision.js';
import { systemClock } from '../../src/std/clock.js';
import { silentLogger } from '../../src/std/logger.js';
import { CompactionLoop } from '../../src/storage/compaction/compaction-loop.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import { describeWithEtcd, EtcdCluster, type EtcdOptions } from '../harness/etcd.js';
import { Recorder, refused } from './kv-store.contract.js';

const put = (store: KvStore, key: string, bytes = 1) =>
  store.txn([], [{ type: 'put', key, value: Buffer.alloc(bytes, 'x') }]);

describeWithEtcd('EtcdStore failures', () => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  const start = async (options?: EtcdOptions) => {
    const cluster = await EtcdCluster.start(1, options);
    closing.push(() => cluster.stop());
    return cluster;
  };
  const open = async (cluster: EtcdCluster, options = {}) => {
    const store = await cluster.openStore(options);
    closing.push(() => store.close());
    return store;
  };

  it('rejects too large requests at every limit (tooLarge), and stays usable', async () => {
    const store = await open(await start());
    const manyWrites = Array.from({ length: 129 }, (_, i) => ({
      type: 'put' as const,
      key: `/many/${i}`,
      value: Buffer.from('x'),
    }));
    const before = await store.revision();
    // Above etcd's limit of 1.5 MiB, gRPC's limit of 2 MiB, and 128 operations.
    await refused(put(store, '/large', 1_700_000), 'tooLarge');
    await refused(put(store, '/large', 2_500_000), 'tooLarge');
    const error = await refused(store.txn([], manyWrites), 'tooLarge');
    expect(error.cause).toBeInstanceOf(Error);
    expect(await store.revision()).toBe(before);
    expect((await put(store, '/small')).revision).toBe(before + 1);
  });

  it('rejects writes to a full database (full)', async () => {
    const store = await open(await start({ flags: ['--quota-backend-bytes=20000000'] }));
    // etcd measures its file when it commits, every 100 ms; until then more than the quota fits in.
    const fill = async () => {
      for (let i = 0; i < 400; i++) await put(store, `/fill/${i}`, 1_000_000);
    };
    await refused(fill(), 'full');
    await refused(put(store, '/one-more'), 'full');
    expect((await store.get('/fill/0')).item!.value).toHaveLength(1_000_000);
  });

  it('opens while etcd is down, rejects after the deadline, and works once etcd is up', async () => {
    const cluster = await start();
    const member = cluster.members[0]!;
    await member.kill();
    const began = performance.now();
    const store = await open(cluster, { callTimeoutMs: 3_000 });
    expect(performance.now() - began).toBeLessThan(60_000);
    const recorder = new Recorder('/');
    recorder.watch = store.watch('/', { from: revisionOf(2) }, recorder);
    const asked = performance.now();
    await Promise.all([
      refused(store.get('/a'), 'unavailable'),
      refused(store.revision(), 'unavailable'),
      refused(put(store, '/a'), 'unavailable'),
    ]);
    expect(performance.now() - asked).toBeLessThan(60_000);
    const patient = await open(cluster, { callTimeoutMs: 30_000 });
    const written = put(patient, '/a');
    member.start();
    const { revision } = await written;
    await recorder.reached(revision);
    expect(recorder.delivered).toHaveLength(1);
    expect((await store.get('/a')).item!.modRevision).toBe(revision);
  });

  it('rejects at once when the caller aborts, and at the deadline otherwise', async () => {
    const cluster = await start();
    const store = await open(cluster, { callTimeoutMs: 3_000 });
    await store.revision();
    await cluster.members[0]!.kill('SIGSTOP');
    const controller = new AbortController();
    const given = refused(store.get('/a', { signal: controller.signal }), 'unavailable');
    const waiting = refused(put(store, '/a'), 'outcomeUnknown');
    controller.abort(new Error('enough'));
    expect((await given).cause).toEqual(new Error('enough'));
    await waiting;
    const closed = refused(store.get('/a'), 'closed');
    await store.close();
    await closed;
    await cluster.members[0]!.kill('SIGCONT');
  });

  it('uses another member if the first is unreachable', async () => {
    const cluster = await start();
    const gone = await EtcdCluster.start();
    await gone.stop();
    const store = await open(cluster, { servers: [...gone.storeOptions.servers, ...cluster.storeOptions.servers] });
    const recorder = new Recorder('/');
    recorder.watch = store.watch('/', { from: revisionOf((await store.revision()) + 1) }, recorder);
    await recorder.reached((await put(store, '/a')).revision);
  });

  it('connects by TLS with a client certificate, and not without', async () => {
    const cluster = await start({ tls: true });
    const store = await open(cluster);
    const recorder = new Recorder('/');
    recorder.watch = store.watch('/', { from: revisionOf((await store.revision()) + 1) }, recorder);
    await recorder.reached((await put(store, '/a')).revision);
    const { servers, caFile } = cluster.storeOptions;
    const bare = await cluster.openStore({ callTimeoutMs: 500 });
    await bare.close();
    const { openEtcdStore } = await import('../../src/storage/backends/etcd/etcd-store.js');
    const common = { clock: systemClock, logger: silentLogger, rng: { below: () => 0, uuid: () => '' } };
    const nameless = await openEtcdStore({ ...common, servers, caFile: caFile!, callTimeoutMs: 700 });
    closing.push(() => nameless.close());
    await refused(nameless.revision(), 'unavailable');
    await expect(openEtcdStore({ ...common, servers, certFile: caFile! })).rejects.toThrow('needs its key');
  });

  it('a watch from the compacted revision delivers a deletion of this revision, or ends', async () => {
    const store = await open(await start());
    await put(store, '/a');
    await put(store, '/b');
    const { revision } = await store.txn([], [{ type: 'delete', key: '/a' }]);
    const last = (await put(store, '/c')).revision;
    await store.compact(revision);
    const recorder = new Recorder('/');
    recorder.watch = store.watch('/', { from: revision }, recorder);
    // An etcd version that may have lost the deletion: the watch ends with compacted.
    await recorder.reached(last).catch(() => expect(recorder.error).toMatchObject({ code: 'compacted' }));
    if (!recorder.error) expect(recorder.keys).toEqual(['a', 'c']);
  });

  it('one of several servers compacts in each round', async () => {
    const store = await open(await start());
    const loops = Array.from(
      { length: 3 },
      () => new CompactionLoop({ store, clock: systemClock, logger: silentLogger, intervalMs: 0 }),
    );
    const runRounds = async () => (await Promise.all(loops.map((loop) => loop.runRound()))).filter(Boolean).length;
    await put(store, '/a');
    const old = await store.revision();
    // The last bidder of a round wins the next one, since no other server has written the key after it.
    const rounds = [await runRounds(), await runRounds(), await runRounds()];
    expect(rounds[0]).toBe(0);
    expect(rounds.slice(1).every((count) => count <= 1)).toBe(true);
    for (let i = 0; i < 5; i++) await loops[0]!.runRound();
    await refused(store.get('/a', { revision: old }), 'compacted');
    expect((await store.get('/a')).item).toBeDefined();
    for (const loop of loops) loop.stop();
  });
});
