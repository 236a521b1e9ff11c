import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Crowd } from '../../scripts/simulation/crowd.js';
import { violationsOf } from '../../scripts/simulation/guarantees.js';
import { History } from '../../scripts/simulation/history.js';
import { HttpApi } from '../../scripts/simulation/http-api.js';
import { systemClock } from '../../src/std/clock.js';
import { SeededRng } from '../../src/std/rng.js';
import { EmbeddedStore } from '../../src/storage/backends/embedded/embedded-store.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { watchesAreQuiet, eventually } from '../harness/eventually.js';
import { ServerProcess } from '../harness/server-process.js';
import { chosenSeed } from '../harness/seed.js';

/**
 * The server is killed repeatedly while clients write and watch. They continue with what they know; at the end their
 * record is checked against the log of the store.
 */
const kills = 20;

async function survive(flags: readonly string[], openStore: (directory: string) => Promise<KvStore>): Promise<void> {
  const seed = chosenSeed();
  const rng = new SeededRng(seed);
  const fork = () => new SeededRng(rng.below(2 ** 31));
  const directory = await mkdtemp(join(tmpdir(), 'keelson-crash-'));
  const server = await ServerProcess.start(directory, [...flags, '--feature-gates=ShardedListAndWatch=true']);
  const api = new HttpApi('server', server.access);
  try {
    const crowd = new Crowd({ apis: [api], clock: systemClock, fork, pauseMsMax: 15, mayFail: () => true });
    await crowd.makeNamespaces();
    crowd.start(8);
    const { ledger } = crowd;
    for (let n = 0; n < kills; n++) {
      const before = ledger.acknowledged;
      await sleep(150 + rng.below(300));
      // Every other run has writes, also on a busy machine.
      if (n % 2 === 0) await eventually('something is written', () => ledger.acknowledged > before);
      await server.kill();
      await server.start();
    }
    await eventually('watches are taken up again', () => ledger.counts()['resumed']! > kills);
    // The last run is stopped cleanly, so that watchers can receive everything.
    await sleep(500);
    await crowd.stop();
    await watchesAreQuiet(ledger);
    crowd.close();
    await server.kill();

    const store = await openStore(directory);
    const history = await History.of(store).finally(() => store.close());
    const violations = violationsOf(history, ledger).map(({ guarantee, message }) => `not ${guarantee}: ${message}`);
    if (violations.length > 0) throw new Error(`seed ${seed}:\n${violations.slice(0, 10).join('\n')}`);
  } finally {
    api.close();
    await server.kill();
    await rm(directory, { recursive: true, force: true });
  }
}

describe(`a server that is killed ${kills} times loses nothing`, () => {
  it('on its embedded store', async () => {
    await survive(['--storage-backend=embedded'], (directory) =>
      EmbeddedStore.open({ directory: join(directory, 'store') }),
    );
  }, 300_000);

  describeWithEtcd('on etcd', () => {
    let etcd: EtcdCluster;
    beforeAll(async () => {
      etcd = await EtcdCluster.start();
    });
    afterAll(() => etcd.stop());

    it('while etcd runs on', async () => {
      await survive([`--etcd-servers=${etcd.storeOptions.servers.join(',')}`], () => etcd.openStore());
    }, 300_000);
  });
});
