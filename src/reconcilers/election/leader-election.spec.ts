import { MemoryStore } from '../../storage/backends/memory/memory-store.js';
import { AdmissionChain } from '../../admission/admission-chain.js';
import { LoopbackClient } from '../../client/loopback-client.js';
import { loopbackUser } from '../../machinery/user-info.js';
import { ManualClock } from '../../std/clock.js';
import { silentLogger } from '../../std/logger.js';
import { SeededRng } from '../../std/rng.js';
import type { KvStore } from '../../storage/kv-store.js';
import { startOpenKeelson, type OpenKeelson } from '../../assembly/start-keelson.js';
import { released, takenBy } from './lease-record.js';
import { LeaderElection } from './leader-election.js';

const t0 = '2026-01-01T00:00:00.000000Z';
const t1 = '2026-01-01T00:00:10.000000Z';
const record = (holderIdentity: string, rest = {}) => ({
  holderIdentity,
  leaseDurationSeconds: 15,
  acquireTime: t0,
  renewTime: t0,
  leaseTransitions: 3,
  ...rest,
});

it.each([
  [
    'the first acquisition',
    takenBy('a', undefined, 15, t1),
    record('a', { acquireTime: t1, renewTime: t1, leaseTransitions: 0 }),
  ],
  ['a renewal', takenBy('a', record('a'), 15, t1), record('a', { renewTime: t1 })],
  [
    'an acquisition from another holder',
    takenBy('a', record('b'), 15, t1),
    record('a', { acquireTime: t1, renewTime: t1, leaseTransitions: 4 }),
  ],
  ['a release', released(record('a'), t1), record('', { leaseDurationSeconds: 1, acquireTime: t1, renewTime: t1 })],
])('the Lease record after %s', (_name, record, want) => expect(record).toEqual(want));

const turns = async (count = 20) => {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
};

describe('candidates on one store', () => {
  let store: KvStore;
  let keelson: OpenKeelson;
  beforeEach(async () => {
    store = new MemoryStore();
    keelson = await startOpenKeelson({ store, reconciles: false });
  });
  afterEach(async () => {
    await keelson.stop();
    await store.close();
  });

  function candidate(identity: string, clock: ManualClock) {
    const seen: string[] = [];
    const { registry } = keelson.components;
    const client = new LoopbackClient({ admission: new AdmissionChain([]), user: loopbackUser, fieldManager: 'test' });
    const lease = {
      served: registry.require('coordination.k8s.io', 'v1', 'leases'),
      namespace: 'kube-system',
      name: 'l',
    };
    const election = new LeaderElection({
      client,
      lease,
      identity,
      clock,
      rng: new SeededRng(1),
      logger: silentLogger,
      begin: async () => void seen.push('begin'),
      end: async () => void seen.push('end'),
    });
    return { election, seen, client, lease };
  }
  async function pass(clock: ManualClock, seconds: number) {
    for (let second = 0; second < seconds; second++) {
      clock.advance(1000);
      await turns();
    }
  }

  it('one candidate leads, and another one as soon as it stops', async () => {
    const clock = new ManualClock();
    const [a, b] = [candidate('a', clock), candidate('b', clock)];
    a.election.start();
    await turns();
    b.election.start();
    await pass(clock, 60);
    expect([a.seen, b.seen]).toEqual([['begin'], []]);
    await a.election.stop();
    expect(a.seen).toEqual(['begin', 'end']);
    await pass(clock, 5);
    expect(b.seen).toEqual(['begin']);
    const { spec } = (await b.client.live(b.lease))! as unknown as { spec: object };
    expect(spec).toMatchObject({ holderIdentity: 'b', leaseDurationSeconds: 15, leaseTransitions: 1 });
    await b.election.stop();
  });

  it('a candidate takes over an expired Lease; a leader that could not renew it stops when it notices', async () => {
    const [mine, others] = [new ManualClock(), new ManualClock()];
    const [a, b] = [candidate('a', mine), candidate('b', others)];
    a.election.start();
    await turns();
    b.election.start();
    await turns();
    // a hangs: its clock stands still, and it renews nothing.
    await pass(others, 14);
    expect(b.seen).toEqual([]);
    await pass(others, 5);
    expect(b.seen).toEqual(['begin']);
    // a continues, finds another holder, and stops at once.
    await pass(mine, 3);
    expect(a.seen).toEqual(['begin', 'end']);
    await Promise.all([a.election.stop(), b.election.stop()]);
    expect(b.seen).toEqual(['begin', 'end']);
  });

  it('a leader that cannot reach the store stops before the Lease expires', async () => {
    const clock = new ManualClock();
    const a = candidate('a', clock);
    a.election.start();
    await turns();
    a.client.live = () => new Promise(() => undefined);
    await pass(clock, 9);
    expect(a.seen).toEqual(['begin']);
    await pass(clock, 3);
    expect(a.seen).toEqual(['begin', 'end']);
    // a tries to release the Lease until a deadline.
    await pass(clock, 3);
    await a.election.stop();
  });
});
