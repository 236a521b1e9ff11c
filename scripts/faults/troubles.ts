import { setTimeout as sleep } from 'node:timers/promises';
import type { Rng } from '../../src/std/rng.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import { StorageError } from '../../src/storage/storage-error.js';
import { namespace } from '../linearizability/versions.js';
import { pick } from '../simulation/selection.js';
import type { ApiServers } from './api-servers.js';
import type { EtcdMembers } from './etcd-members.js';
import type { LineState } from './faulty-line.js';
import type { Informer } from './informer.js';
import type { OwnProcess } from './own-process.js';
import type { ReadinessProbes } from './readiness.js';

/** The processes that a trouble may break. */
export interface Ground {
  readonly etcd: EtcdMembers;
  readonly servers: ApiServers;
  readonly probes: readonly ReadinessProbes[];
  readonly informers: readonly Informer[];
  /** A direct connection to etcd. */
  readonly store: KvStore;
  readonly rng: Rng;
  /** Revision that the record of the run has reached; later ones must not be compacted. */
  recorded(): number;
  violation(text: string): void;
  /** Adds to the counts of the report: kills, pauses, partitions, outages. */
  count(what: string): void;
}

/** Time for /readyz to tell of an outage and of its end, on a machine that does nothing else: 2 s. Busy ones are slower. */
const readinessMsMax = 60_000;
/** The leader of a lost quorum finds out after its election timeout; until then it may still answer. */
const quorumLossMsMax = 15_000;

/** Time for a worker to be replaced: the longest delay of the supervisor, and a start on a busy machine. */
const replacementMsMax = 120_000;

/** Faults of one kind, which are over when it resolves, except that lines may be unhealed and processes not started. */
type Trouble = (ground: Ground) => Promise<void>;

type Troubles = Readonly<Record<string, Trouble>>;

const troublesOfAll: Troubles = {
  'kill-leader': (ground) => killMember(ground, true),
  'kill-member': (ground) => killMember(ground, false),
  'pause-leader': (ground) => pauseMember(ground, true),
  'pause-member': (ground) => pauseMember(ground, false),
  'slow-disk': slowDisk,
  'isolate-leader': (ground) => isolateMember(ground, true),
  'isolate-member': (ground) => isolateMember(ground, false),
  'cut-lines': (ground) => outage(ground, 'cut'),
  'dead-lines': (ground) => outage(ground, 'dead'),
  'half-open-up': (ground) => outage(ground, 'up'),
  'half-open-down': (ground) => outage(ground, 'down'),
  'one-line': oneLine,
  'slow-lines': slowLines,
  'lose-quorum': loseQuorum,
  'kill-server': killServer,
  compact: compactAndDefragment,
  garbage: writeGarbage,
  reconnect: async ({ informers }) => informers.forEach((informer) => informer.reconnect()),
};

/** Faults of servers with several processes. */
const troublesOfWorkers: Troubles = { 'kill-worker': killWorker, 'pause-worker': pauseWorker };
export const namesOfWorkerTroubles: readonly string[] = Object.keys(troublesOfWorkers);

/** Returns the faults of servers that have this number of processes, by name. */
export const troublesOf = (workers: number): Troubles =>
  workers > 1 ? { ...troublesOfAll, ...troublesOfWorkers } : troublesOfAll;

const between = (rng: Rng, low: number, high: number) => low + rng.below(high - low);
const anyMember = ({ etcd, rng }: Ground) => pick(rng, etcd.members);
const leaderOrAny = async (ground: Ground, isLeader: boolean) =>
  (isLeader ? await ground.etcd.leader() : undefined) ?? anyMember(ground);

async function killMember(ground: Ground, isLeader: boolean): Promise<void> {
  const { process } = await leaderOrAny(ground, isLeader);
  ground.count(isLeader ? 'leader kills' : 'member kills');
  await process.kill();
  await sleep(between(ground.rng, 500, 3_000));
  process.start();
}

async function pauseMember(ground: Ground, isLeader: boolean): Promise<void> {
  const { process } = await leaderOrAny(ground, isLeader);
  ground.count(isLeader ? 'leader pauses' : 'member pauses');
  process.signal('SIGSTOP');
  await sleep(between(ground.rng, 1_000, 6_000));
  process.signal('SIGCONT');
}

/** The leader stands still most of the time, as while its disk syncs. */
async function slowDisk(ground: Ground): Promise<void> {
  const { process } = await leaderOrAny(ground, true);
  ground.count('slow disks');
  const end = performance.now() + between(ground.rng, 2_000, 5_000);
  while (performance.now() < end) {
    process.signal('SIGSTOP');
    await sleep(between(ground.rng, 50, 400));
    process.signal('SIGCONT');
    await sleep(between(ground.rng, 10, 60));
  }
}

async function isolateMember(ground: Ground, isLeader: boolean): Promise<void> {
  const member = await leaderOrAny(ground, isLeader);
  ground.count('partitions of members');
  ground.etcd.isolate(member);
  await sleep(between(ground.rng, 2_000, 6_000));
  ground.etcd.joinAll();
}

/** One server loses all its lines to etcd. Its readiness must tell, and the others go on. */
async function outage(ground: Ground, state: LineState): Promise<void> {
  const { rng, servers, probes } = ground;
  const index = rng.below(servers.servers.length);
  const { lines, process } = servers.servers[index]!;
  ground.count('partitions of servers');
  const begunMs = performance.now();
  for (const line of lines) line.set(state);
  if (!(await probes[index]!.fails(begunMs, readinessMsMax)))
    ground.violation(`/readyz of ${process.name} passes although its lines to etcd are ${state}`);
  await sleep(between(rng, 500, 4_000));
  const healedMs = performance.now();
  for (const line of lines) line.set('open');
  if (!(await probes[index]!.recovers(healedMs, readinessMsMax)))
    ground.violation(`/readyz of ${process.name} fails although its lines to etcd are open again`);
}

/** The line to one member is silent or cut: the server moves to another member, and stays ready or is soon. */
async function oneLine({ rng, servers, count }: Ground): Promise<void> {
  const { lines } = pick(rng, servers.servers);
  count('partitions of lines');
  pick(rng, lines).set(pick(rng, ['cut', 'dead', 'up', 'down'] as const));
  await sleep(between(rng, 2_000, 6_000));
}

async function slowLines({ rng, servers, count }: Ground): Promise<void> {
  count('delays of lines');
  for (const { lines } of servers.servers) for (const line of lines) line.delay(rng.below(150));
  await sleep(between(rng, 2_000, 4_000));
}

async function loseQuorum(ground: Ground): Promise<void> {
  const { etcd, rng, probes } = ground;
  const survivor = rng.below(etcd.members.length);
  const others = etcd.members.filter((_, n) => n !== survivor);
  ground.count('losses of quorum');
  for (const { process } of others) {
    if (rng.below(2) === 0) process.signal('SIGSTOP');
    else await process.kill();
  }
  const begunMs = performance.now();
  await Promise.all(probes.map((probe) => probe.fails(begunMs, quorumLossMsMax)));
  await sleep(between(rng, 500, 3_000));
  for (const { process } of others) {
    if (process.isRunning) process.signal('SIGCONT');
    else process.start();
  }
}

async function killServer({ servers, rng, count }: Ground): Promise<void> {
  count('server kills');
  await servers.restart(pick(rng, servers.servers));
}

/** Waits for the replacement, and makes all clients connect again, so that it gets some of them. */
async function killWorker(ground: Ground): Promise<void> {
  const { servers, rng, count } = ground;
  const { process: server } = pick(rng, servers.servers);
  const killed = await aWorker(ground, server);
  if (killed === undefined) return;
  count('worker kills');
  process.kill(killed, 'SIGKILL');
  await aWorker(ground, server, killed);
  await sleep(between(rng, 500, 3_000));
  servers.dropConnections();
}

/** A worker stands still, as while its machine swaps: its clients wait, and new ones get other processes. */
async function pauseWorker(ground: Ground): Promise<void> {
  const { servers, rng, count } = ground;
  const paused = await aWorker(ground, pick(rng, servers.servers).process);
  if (paused === undefined) return;
  count('worker pauses');
  process.kill(paused, 'SIGSTOP');
  try {
    await sleep(between(rng, 1_000, 6_000));
  } finally {
    process.kill(paused, 'SIGCONT');
  }
}

/** Returns a worker of the server other than `killed`, after which it has none for a while; undefined if none is started. */
async function aWorker({ rng, violation }: Ground, server: OwnProcess, killed?: number): Promise<number | undefined> {
  const deadline = performance.now() + replacementMsMax;
  while (performance.now() < deadline) {
    const workers = server.children.filter((pid) => pid !== killed);
    if (workers.length > 0) return pick(rng, workers);
    await sleep(20);
  }
  violation(`${server.name} has started no worker`);
  return undefined;
}

async function compactAndDefragment(ground: Ground): Promise<void> {
  const { etcd, store, rng, recorded } = ground;
  ground.count('compactions');
  try {
    await store.compact((recorded() - rng.below(20)) as Parameters<KvStore['compact']>[0]);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
  const member = anyMember(ground);
  const isDone = await etcd.defragment(member).then(
    () => true,
    () => false,
  );
  if (isDone) ground.count('defragmentations');
}

/** Another program puts values that are no objects, and removes them. */
async function writeGarbage({ store, rng, count }: Ground): Promise<void> {
  count('foreign writes');
  const keys = [
    `/registry/configmaps/${namespace}/zz-garbage`,
    `/registry/configmaps/${namespace}/zz/too/deep`,
    '/registry/nobody/knows/this',
    '/registry/pods/',
  ];
  const values = ['not an object', '{"kind":"ConfigMap"', '{"kind":"Pod","apiVersion":"v9"}', '', '\u0000\u0001\ufffd'];
  const key = pick(rng, keys);
  const retried = async (make: () => Promise<unknown>) => {
    for (let attempt = 0; attempt < 5; attempt++)
      if (
        await make().then(
          () => true,
          () => false,
        )
      )
        return;
  };
  await retried(() => store.txn([], [{ type: 'put', key, value: Buffer.from(pick(rng, values)) }]));
  await sleep(rng.below(500));
  await retried(() => store.txn([], [{ type: 'delete', key }]));
}
