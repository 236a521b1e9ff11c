import { violationsOf } from '../../scripts/linearizability/check-writes.js';
import { finalState, Observer } from '../../scripts/linearizability/observer.js';
import { storeLog } from '../../scripts/linearizability/store-log.js';
import { namespace } from '../../scripts/linearizability/versions.js';
import { Writers } from '../../scripts/linearizability/writers.js';
import { ApiFailure } from '../../scripts/simulation/api.js';
import { HttpApi } from '../../scripts/simulation/http-api.js';
import { SeededRng } from '../../src/std/rng.js';
import { startKeelson, type Keelson } from '../../src/testing.js';
import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { EtcdProxy } from '../harness/etcd-proxy.js';
import { chosenSeed } from '../harness/seed.js';

const lostMin = 12;
const writesBetween = 20;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const place = { resource: 'configmaps', namespace } as const;
const bare = (name: string) => ({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, namespace } });

/** Requests take effect, but their answers are lost: clients do not know the outcome. */
describeWithEtcd('two servers that lose answers of etcd', () => {
  const seed = chosenSeed();
  const rng = new SeededRng(seed);
  const fork = () => new SeededRng(rng.below(2 ** 31));
  let etcd: EtcdCluster;
  const proxies: EtcdProxy[] = [];
  const servers: Keelson[] = [];
  const apis: HttpApi[] = [];

  beforeAll(async () => {
    etcd = await EtcdCluster.start();
    for (let n = 0; n < 2; n++) {
      const proxy = await EtcdProxy.start(etcd.storeOptions.servers[0]!);
      proxies.push(proxy);
      const storage = { backend: 'etcd3' as const, etcd: { servers: [proxy.url] } };
      servers.push(await startKeelson({ config: { storage } }));
      apis.push(new HttpApi(`server-${n}`, servers[n]!));
    }
    await apis[0]!.createNamespace(namespace);
  });
  afterAll(async () => {
    apis.forEach((api) => api.close());
    for (const server of servers) await server.stop();
    for (const proxy of proxies) await proxy.stop();
    await etcd.stop();
  });

  it('concurrent applies of an absent object succeed', async () => {
    for (let round = 0; round < 5; round++) {
      const name = `new-${round}`;
      const applied = await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          apis[n % 2]!.apply({ ...place, name }, { ...bare(name), data: { [`by-${n}`]: 'x' } }, `m${n}`).catch(
            (error: unknown) => (error as ApiFailure).reason,
          ),
        ),
      );
      // Retries may run out (Conflict); AlreadyExists is never an answer to apply.
      const refusals = applied.filter((answer) => typeof answer === 'string' && answer !== 'Conflict');
      expect(refusals).toEqual([]);
      const { data } = (await apis[1]!.get({ ...place, name }, {})) as unknown as { data: object };
      expect(Object.keys(data)).toHaveLength(applied.filter((answer) => typeof answer !== 'string').length);
    }
  });

  it(`make every write once, seed ${seed}`, async () => {
    const writers = new Writers(apis, fork);
    const observers = await Promise.all(apis.map((api) => Observer.start(api)));
    writers.start(24);
    const lost = () => proxies.reduce((sum, proxy) => sum + proxy.lost, 0);
    while (lost() < lostMin) {
      const due = writers.acknowledged + writesBetween;
      while (writers.acknowledged < due) await sleep(5);
      const proxy = proxies[rng.below(2)]!;
      const before = proxy.lost;
      // Skips a few answers at random, to lose those of different calls.
      let passes = rng.below(6);
      proxy.losesAnswer = () => proxy.lost === before && passes-- === 0;
    }
    for (const proxy of proxies) proxy.losesAnswer = () => false;
    await writers.stop();

    const last = await eventually(() => apis[0]!.create(place, bare('last')));
    for (const observer of observers) await observer.reached(Number(last.metadata.resourceVersion));
    const final = await finalState(apis[1]!);
    const watches = await Promise.all(observers.map((observer) => observer.close()));
    const store = await etcd.openStore();
    const log = await storeLog(store).finally(() => store.close());
    const violations = violationsOf({ log, writes: writers.writes, reads: writers.reads, watches, final });
    const counts = writers.counts();
    process.stderr.write(
      `lost answers: seed ${seed}, ${JSON.stringify({ lost: lost(), changes: log.length, ...counts })}\n`,
    );
    expect(violations.slice(0, 10)).toEqual([]);
    expect(counts['504 Timeout']).toBeGreaterThan(0);
  });
});

async function eventually<T>(make: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await make();
    } catch (error) {
      if (!(error instanceof ApiFailure && error.leavesDoubt)) throw error;
      await sleep(50);
    }
  }
}
