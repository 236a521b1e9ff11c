import { setTimeout as sleep } from 'node:timers/promises';
import { Crowd } from '../../scripts/simulation/crowd.js';
import { violationsOf } from '../../scripts/simulation/guarantees.js';
import { History } from '../../scripts/simulation/history.js';
import { HttpApi } from '../../scripts/simulation/http-api.js';
import { systemClock } from '../../src/std/clock.js';
import { SeededRng } from '../../src/std/rng.js';
import { startKeelson, type Keelson } from '../../src/testing.js';
import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { watchesAreQuiet, eventually } from '../harness/eventually.js';
import { chosenSeed } from '../harness/seed.js';

/** OUTAGE_SECONDS=20 makes it as long as a restart of a machine. */
const outageMs = Number(process.env['OUTAGE_SECONDS'] ?? 3) * 1_000;
/** CLIENTS=200 runs a crowd of clients. */
const clients = Number(process.env['CLIENTS'] ?? 6);

describeWithEtcd('two servers during an outage of etcd', () => {
  const seed = chosenSeed();
  const rng = new SeededRng(seed);
  const fork = () => new SeededRng(rng.below(2 ** 31));
  let etcd: EtcdCluster;
  const servers: Keelson[] = [];
  const apis: HttpApi[] = [];

  beforeAll(async () => {
    etcd = await EtcdCluster.start();
    for (let n = 0; n < 2; n++) {
      const storage = { backend: 'etcd3' as const, etcd: { servers: etcd.storeOptions.servers } };
      servers.push(await startKeelson({ config: { storage, featureGates: { ShardedListAndWatch: true } } }));
      apis.push(new HttpApi(`server-${n}`, servers[n]!));
    }
  });
  afterAll(async () => {
    apis.forEach((api) => api.close());
    for (const server of servers) await server.stop();
    await etcd.stop();
  });

  async function readyz(isReady: boolean): Promise<void> {
    const color = isReady ? 'green' : 'red';
    for (const api of apis)
      await eventually(`/readyz of ${api.name} is ${color}`, async () => (await api.isReady()) === isReady);
  }

  it(
    `lose nothing in ${outageMs / 1_000} s, and report readiness`,
    async () => {
      const crowd = new Crowd({ apis, clock: systemClock, fork, pauseMsMax: 20, mayFail: () => true });
      await crowd.makeNamespaces();
      await readyz(true);
      crowd.start(clients);
      await sleep(1_500);
      const before = crowd.ledger.acknowledged;
      await etcd.members[0]!.kill();
      const down = Date.now();
      await readyz(false);
      await sleep(Math.max(0, down + outageMs - Date.now()));
      etcd.members[0]!.start();
      await readyz(true);
      await sleep(2_000);
      await eventually('writes are acknowledged again', () => crowd.ledger.acknowledged > before);
      await crowd.stop();
      await watchesAreQuiet(crowd.ledger);

      const store = await etcd.openStore();
      const history = await History.of(store).finally(() => store.close());
      const violations = violationsOf(history, crowd.ledger);
      crowd.close();
      if (violations.length > 0) {
        const lines = violations.slice(0, 10).map(({ guarantee, message }) => `not ${guarantee}: ${message}`);
        throw new Error(`seed ${seed}:\n${lines.join('\n')}`);
      }
    },
    outageMs + 150_000,
  );
});
