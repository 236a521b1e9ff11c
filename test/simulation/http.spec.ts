import { setTimeout as sleep } from 'node:timers/promises';
import { Crowd } from '../../scripts/simulation/crowd.js';
import { violationsOf } from '../../scripts/simulation/guarantees.js';
import { History } from '../../scripts/simulation/history.js';
import { HttpApi } from '../../scripts/simulation/http-api.js';
import { systemClock } from '../../src/std/clock.js';
import { SeededRng } from '../../src/std/rng.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { FaultyStore } from '../../src/storage/decorators/faulty-store.js';
import { startKeelson, type Keelson } from '../../src/testing.js';
import { watchesAreQuiet, eventually } from '../harness/eventually.js';
import { chosenSeed } from '../harness/seed.js';

const runMs = 3_000;

/** The same clients over real sockets. Few, and in real time, so a seed only makes a similar run. */
describe('two servers keep all guarantees over HTTP', () => {
  const seed = chosenSeed();
  const rng = new SeededRng(seed);
  const fork = () => new SeededRng(rng.below(2 ** 31));
  const memory = new MemoryStore();
  const servers: Keelson[] = [];
  const apis: HttpApi[] = [];

  beforeAll(async () => {
    for (let n = 0; n < 2; n++) {
      const faults = { delay: { oneIn: 10, msMax: 30 }, watchCut: { oneIn: 30, msMax: 200 } };
      const store = new FaultyStore(memory, { clock: systemClock, rng: fork(), ...faults });
      servers.push(await startKeelson({ store, config: { featureGates: { ShardedListAndWatch: true } } }));
      apis.push(new HttpApi(`server-${n}`, servers[n]!));
    }
  });
  afterAll(async () => {
    apis.forEach((api) => api.close());
    for (const server of servers) await server.stop();
    await memory.close();
  });

  it(`seed ${seed}`, async () => {
    const history = new History();
    const following = history.follow(memory, (error) => expect(error).toBeUndefined());
    const crowd = new Crowd({ apis, clock: systemClock, fork, pauseMsMax: 20, mayFail: () => false });
    await crowd.makeNamespaces();
    crowd.start(5);
    await sleep(runMs);
    const count = (of: string) => crowd.ledger.counts()[of]!;
    await eventually(
      'writes are acknowledged and events received',
      () => count('acknowledged') > 20 && count('events') > 20,
    );
    await crowd.stop();
    await watchesAreQuiet(crowd.ledger);
    const violations = violationsOf(history, crowd.ledger);
    crowd.close();
    following.close();
    expect(violations.slice(0, 10)).toEqual([]);
  });
});
