import { Deferred } from '../std/deferred.js';
import { ManualClock } from '../std/clock.js';
import { silentLogger } from '../std/logger.js';
import { LogicalClusters, type AwakeCluster } from './logical-clusters.js';

const awake: AwakeCluster = {
  issueAdminToken: () => Promise.reject(new Error('not in this test')),
  close: async () => undefined,
};
const identity = (name: string) => ({ name, uid: `uid-of-${name}` });

test('a cluster that is refused because too many are being read (429) is read by a later request', async () => {
  const gate = new Deferred<void>();
  const clusters = new LogicalClusters({
    objects: () => undefined,
    wake: async () => {
      await gate.promise;
      return awake;
    },
    ...{ awakeMax: 2_000, idleTimeoutMs: 60_000, clock: new ManualClock(), logger: silentLogger },
  });
  const waiting = Array.from({ length: 1_000 }, (_, index) => clusters.acquire(identity(`c${index}`)));
  await expect(clusters.acquire(identity('late'))).rejects.toMatchObject({ code: 429 });
  gate.resolve();
  await Promise.all(waiting);
  expect(await clusters.acquire(identity('late'))).toBe(awake);
  await clusters.close();
});
