import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { violationsOf } from '../../scripts/linearizability/check-writes.js';
import { finalState, Observer } from '../../scripts/linearizability/observer.js';
import { storeLog } from '../../scripts/linearizability/store-log.js';
import { namespace } from '../../scripts/linearizability/versions.js';
import { Writers } from '../../scripts/linearizability/writers.js';
import { HttpApi } from '../../scripts/simulation/http-api.js';
import { SeededRng } from '../../src/std/rng.js';
import { EmbeddedStore } from '../../src/storage/backends/embedded/embedded-store.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { processClients } from '../harness/process-clients.js';
import { ServerProcess } from '../harness/server-process.js';
import { chosenSeed } from '../harness/seed.js';

/** LINEAR_SECONDS=60 is the long run. */
const runMs = Number(process.env['LINEAR_SECONDS'] ?? 0) * 1_000;
const writersCount = 32;
const killsMin = 3;
/** Minimum number of writes between two restarts, also on a slow machine. */
const writesOfLife = 100;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface Ground {
  readonly name: string;
  readonly flags: readonly string[];
  openStore(directory: string): Promise<KvStore>;
  /** Stops something and starts it again. */
  readonly troubles: readonly ((server: ServerProcess, rng: SeededRng, api: HttpApi) => Promise<void>)[];
}

async function killServer(server: ServerProcess): Promise<void> {
  await server.kill();
  await server.start();
}

/** Waits until another worker serves, and makes the clients connect again, so that it gets half of them. */
async function killWorker(server: ServerProcess, _rng: SeededRng, api: HttpApi): Promise<void> {
  process.kill(server.workers[0]!, 'SIGKILL');
  (await processClients(server, 2)).close();
  api.close();
}

async function survive({ name, flags, openStore, troubles }: Ground): Promise<void> {
  const seed = chosenSeed();
  const rng = new SeededRng(seed);
  const directory = await mkdtemp(join(tmpdir(), 'keelson-linear-'));
  const server = await ServerProcess.start(directory, flags);
  const api = new HttpApi('server', server.access);
  const writers = new Writers([api], () => new SeededRng(rng.below(2 ** 31)));
  let observers: Observer[] = [];
  try {
    await api.createNamespace(namespace);
    // Their connections are those of different processes, if there are several.
    observers = await Promise.all([Observer.start(api), Observer.start(api)]);
    writers.start(writersCount);
    const deadline = Date.now() + runMs;
    let kills = 0;
    while (kills < killsMin || Date.now() < deadline) {
      const due = writers.acknowledged + writesOfLife;
      await sleep(rng.below(700));
      while (writers.acknowledged < due) await sleep(10);
      await troubles[rng.below(troubles.length)]!(server, rng, api);
      kills++;
    }
    await sleep(200);
    await writers.stop();

    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'last' } };
    const last = await api.create({ resource: 'configmaps', namespace }, object);
    for (const observer of observers) await observer.reached(Number(last.metadata.resourceVersion));
    const final = await finalState(api);
    const resumed = observers.reduce((sum, observer) => sum + observer.resumed, 0);
    const watches = await Promise.all(observers.map((observer) => observer.close()));
    await server.kill();
    const store = await openStore(directory);
    const log = await storeLog(store).finally(() => store.close());

    const violations = violationsOf({ log, writes: writers.writes, reads: writers.reads, watches, final });
    const counts = { kills, resumed, changes: log.length, ...writers.counts() };
    process.stderr.write(`linearizability on ${name}: seed ${seed}, ${JSON.stringify(counts)}\n`);
    if (violations.length > 0) {
      throw new Error(`seed ${seed}, ${violations.length} violations:\n${violations.slice(0, 10).join('\n')}`);
    }
    expect(resumed).toBeGreaterThan(0);
  } finally {
    await writers.stop();
    await Promise.all(observers.map((observer) => observer.close()));
    api.close();
    await server.kill();
    await rm(directory, { recursive: true, force: true });
  }
}

describe('writes are linearizable while the server is killed repeatedly', () => {
  it(
    'on its embedded store',
    () =>
      survive({
        name: 'the embedded store',
        flags: ['--storage-backend=embedded'],
        openStore: (directory) => EmbeddedStore.open({ directory: join(directory, 'store') }),
        troubles: [killServer],
      }),
    runMs + 120_000,
  );

  it(
    'on its embedded store, by two processes of which one is killed',
    () =>
      survive({
        name: 'two processes',
        flags: ['--storage-backend=embedded', '--workers=2'],
        openStore: (directory) => EmbeddedStore.open({ directory: join(directory, 'store') }),
        troubles: [killWorker],
      }),
    runMs + 120_000,
  );

  describeWithEtcd('on etcd', () => {
    let etcd: EtcdCluster;
    beforeAll(async () => {
      etcd = await EtcdCluster.start();
    });
    afterAll(() => etcd.stop());

    it(
      'while etcd is killed too',
      () => {
        const member = etcd.members[0]!;
        const killEtcd = async (_server: ServerProcess, rng: SeededRng) => {
          await member.kill();
          await sleep(rng.below(400));
          member.start();
          await member.serving();
        };
        const killBoth = async (server: ServerProcess, rng: SeededRng) => {
          await Promise.all([server.kill(), killEtcd(server, rng)]);
          await server.start();
        };
        return survive({
          name: 'etcd',
          flags: [`--etcd-servers=${etcd.storeOptions.servers.join(',')}`],
          openStore: () => etcd.openStore(),
          troubles: [killServer, killServer, killEtcd, killBoth],
        });
      },
      runMs + 120_000,
    );
  });
});
