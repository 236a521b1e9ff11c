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
    'nobody before',
    takenBy('a', undefined, 15, t1),
    record('a', { acquireTime: t1, renewTime: t1, leaseTransitions: 0 }),
  ],
  ['itself', takenBy('a', record('a'), 15, t1), record('a', { renewTime: t1 })],
  ['another', takenBy('a', record('b'), 15, t1), record('a', { acquireTime: t1, renewTime: t1, leaseTransitions: 4 })],
  ['nobody', released(record('a'), t1), record('', { leaseDurationSeconds: 1, acquireTime: t1, renewTime: t1 })],
])('after %s', (_name, made, want) => expect(made).toEqual(want));

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
      begin: async () => void seen.push('begins'),
      end: async () => void seen.push('ends'),
    });
    return { election, seen, client, lease };
  }
  async function pass(clock: ManualClock, seconds: number) {
    for (let second = 0; second < seconds; second++) {
      clock.advance(1000);
      await turns();
    }
  }

  it('one leads, and the next one as soon as it stops', async () => {
    const clock = new ManualClock();
    const [a, b] = [candidate('a', clock), candidate('b', clock)];
    a.election.start();
    await turns();
    b.election.start();
    await pass(clock, 60);
    expect([a.seen, b.seen]).toEqual([['begins'], []]);
    await a.election.stop();
    expect(a.seen).toEqual(['begins', 'ends']);
    await pass(clock, 5);
    expect(b.seen).toEqual(['begins']);
    const { spec } = (await b.client.live(b.lease))! as unknown as { spec: object };
    expect(spec).toMatchObject({ holderIdentity: 'b', leaseDurationSeconds: 15, leaseTransitions: 1 });
    await b.election.stop();
  });

  it('whoever has heard nothing for a lease takes over; who could not renew it has ended before', async () => {
    const [mine, others] = [new ManualClock(), new ManualClock()];
    const [a, b] = [candidate('a', mine), candidate('b', others)];
    a.election.start();
    await turns();
    b.election.start();
    await turns();
    // a hangs: its clock stands still, and no word of it comes.
    await pass(others, 14);
    expect(b.seen).toEqual([]);
    await pass(others, 5);
    expect(b.seen).toEqual(['begins']);
    // It wakes up, finds another holder, and ends at once.
    await pass(mine, 3);
    expect(a.seen).toEqual(['begins', 'ends']);
    await Promise.all([a.election.stop(), b.election.stop()]);
    expect(b.seen).toEqual(['begins', 'ends']);
  });

  it('who cannot reach the store stops leading in time', async () => {
    const clock = new ManualClock();
    const a = candidate('a', clock);
    a.election.start();
    await turns();
    a.client.live = () => new Promise(() => undefined);
    await pass(clock, 9);
    expect(a.seen).toEqual(['begins']);
    await pass(clock, 3);
    expect(a.seen).toEqual(['begins', 'ends']);
    // It tries to give the lease back, for a while.
    await pass(clock, 3);
    await a.election.stop();
  });
});
