import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SeededRng } from '../../src/std/rng.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import { violationsOf } from '../linearizability/check-writes.js';
import { finalState } from '../linearizability/observer.js';
import type { Change, WriteCall } from '../linearizability/record.js';
import { changesOfWriters } from '../linearizability/store-log.js';
import { isOurs, namespace } from '../linearizability/versions.js';
import { Writers } from '../linearizability/writers.js';
import { ApiFailure } from '../simulation/api.js';
import { History } from '../simulation/history.js';
import { pick } from '../simulation/selection.js';
import { ApiServers } from './api-servers.js';
import { EtcdMembers } from './etcd-members.js';
import { Informer } from './informer.js';
import { ReadinessProbes } from './readiness.js';
import { troublesOf, type Ground } from './troubles.js';

interface FaultRunOptions {
  readonly seed: number;
  readonly seconds: number;
  readonly servers: number;
  /** Processes of each server. */
  readonly workers: number;
  readonly writers: number;
  /** Names of troubles; all by default. */
  readonly only: readonly string[];
  readonly onTrouble?: (name: string) => void;
}

interface FaultReport {
  readonly counts: Readonly<Record<string, number>>;
  readonly slowestFailureMs: number;
  readonly slowestRecoveryMs: number;
  readonly violations: readonly string[];
}

/** Writes that must be acknowledged after each trouble, and the time for them. */
const progressWrites = 20;
const progressMsMax = 180_000;

/**
 * Runs three members of etcd and several servers with faults between them, while clients write, list and watch; then
 * checks the record of the clients against the log of etcd. The log is followed directly, so that compaction does not
 * remove it.
 */
export async function runFaults(options: FaultRunOptions): Promise<FaultReport> {
  const directory = mkdtempSync(join(tmpdir(), 'keelson-faults-'));
  const undo: (() => Promise<unknown>)[] = [async () => rmSync(directory, { recursive: true, force: true })];
  try {
    const etcd = await EtcdMembers.start(join(directory, 'etcd'), 3);
    undo.push(() => etcd.stop());
    const store = await etcd.openStore();
    undo.push(() => store.close());
    const servers = await ApiServers.start(directory, etcd, options);
    undo.push(() => servers.stop());
    return await new FaultRun(options, etcd, servers, store).run();
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

class FaultRun {
  private readonly rng: SeededRng;
  private readonly violations: string[] = [];
  private readonly counts: Record<string, number> = {};
  private readonly history = new History();

  constructor(
    private readonly options: FaultRunOptions,
    private readonly etcd: EtcdMembers,
    private readonly servers: ApiServers,
    private readonly store: KvStore,
  ) {
    this.rng = new SeededRng(options.seed);
  }

  async run(): Promise<FaultReport> {
    const { servers, etcd, store, rng } = this;
    const log = this.history.follow(store, (error) =>
      this.violations.push(`the record of etcd ended: ${error.message}`),
    );
    const asking = setInterval(() => log.requestProgress(), 500);
    await retried(() => servers.balanced.createNamespace(namespace));
    const apis = [servers.balanced, ...servers.servers.map(({ api }) => api)];
    const writers = new Writers([servers.balanced, ...apis], () => new SeededRng(rng.below(2 ** 31)));
    const informers = [...apis, servers.balanced].map((api) => new Informer(api, () => writers.now()));
    const probes = servers.servers.map(({ prober }) => new ReadinessProbes(prober));
    writers.start(this.options.writers);
    await this.trouble(writers, {
      ...{ etcd, servers, store, rng, probes, informers },
      recorded: () => this.history.head,
      violation: (text) => this.violations.push(text),
      count: (what) => this.count(what),
    });
    await writers.stop();
    await this.check(writers, informers);
    clearInterval(asking);
    log.close();
    await Promise.all(probes.map((probe) => probe.stop()));
    return {
      counts: this.counts,
      slowestFailureMs: Math.max(...probes.map((probe) => probe.slowestFailureMs)),
      slowestRecoveryMs: Math.max(...probes.map((probe) => probe.slowestRecoveryMs)),
      violations: this.violations,
    };
  }

  /** One trouble after the other; after each of them writes must be acknowledged again. */
  private async trouble(writers: Writers, ground: Ground): Promise<void> {
    const { only, seconds, workers, onTrouble } = this.options;
    const troubles = troublesOf(workers);
    const names = only.length > 0 ? only : Object.keys(troubles);
    const end = performance.now() + seconds * 1_000;
    for (let n = 0; performance.now() < end; n++) {
      // Each of the chosen ones once, then at random.
      const name = only.length > 0 && n < names.length ? names[n]! : pick(this.rng, names);
      onTrouble?.(name);
      this.count('troubles');
      await troubles[name]!(ground);
      await this.heal();
      const due = writers.acknowledged + progressWrites;
      const late = performance.now() + progressMsMax;
      while (writers.acknowledged < due && performance.now() < late) await sleep(20);
      if (writers.acknowledged < due) this.violations.push(`no writes are acknowledged after ${name}`);
    }
  }

  private async heal(): Promise<void> {
    this.servers.heal();
    this.etcd.joinAll();
    for (const { process } of this.etcd.members) {
      process.signal('SIGCONT');
      if (!process.isRunning) process.start();
    }
  }

  private async check(writers: Writers, informers: readonly Informer[]): Promise<void> {
    const { balanced } = this.servers;
    const last = await retried(() =>
      balanced.create(
        { resource: 'configmaps', namespace },
        { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: `last-${this.options.seed}` } },
      ),
    );
    const end = Number(last.metadata.resourceVersion);
    for (const [index, informer] of informers.entries())
      if (!(await informer.reached(end))) this.violations.push(`informer ${index} does not receive revision ${end}`);
    const final = await retried(() => finalState(balanced));
    await Promise.all(informers.map((informer) => informer.close()));
    while (this.history.head < end) await sleep(20);
    const log = changesOfWriters(this.history);
    this.violations.push(...(await this.differences(log)));
    const watches = informers.flatMap(({ views }) => views);
    const reads = [...writers.reads, ...informers.flatMap((informer) => informer.reads)];
    this.violations.push(...violationsOf({ log, writes: writers.writes, reads, watches, final }));
    this.violations.push(...wrongAnswers(writers.writes, log));
    const add = (what: string, value: number) => (this.counts[what] = (this.counts[what] ?? 0) + value);
    add('changes', log.length);
    add('list reads checked', reads.length - writers.reads.length);
    add(
      'events checked',
      watches.reduce((sum, { events }) => sum + events.length, 0),
    );
    add('watch views', watches.length);
    add(
      'watches resumed',
      informers.reduce((sum, { resumed }) => sum + resumed, 0),
    );
    add(
      'watches expired',
      informers.reduce((sum, { expired }) => sum + expired, 0),
    );
    for (const [what, value] of Object.entries(writers.counts())) add(what, value);
  }

  /** Compares the record of the log with what etcd holds, so that a gap in the record is noticed. */
  private async differences(log: readonly Change[]): Promise<string[]> {
    const prefix = `/registry/configmaps/${namespace}/`;
    const { items } = await this.store.range(prefix);
    const held = new Map(items.map(({ key, modRevision }) => [key.slice(prefix.length), modRevision]));
    const recorded = new Map<string, number | undefined>();
    for (const { key, after } of log) recorded.set(key, after?.revision);
    return [...new Set([...recorded.keys(), ...held.keys()])]
      .filter((key) => isOurs(key) && held.get(key) !== recorded.get(key))
      .map((key) => `the record of etcd has ${key}@${recorded.get(key)}, etcd has ${held.get(key)}`);
  }

  private count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }
}

/** Answers that mislead clients: none in time, no Status, or 503 (repeat it) for a write that was made. */
function wrongAnswers(writes: readonly WriteCall[], log: readonly Change[]): string[] {
  const made = new Set(log.map(({ after }) => after?.data['mark']));
  return writes.flatMap(({ mark, key, intent, outcome }) => {
    if (outcome.type !== 'unknown') return [];
    const { why } = outcome;
    const isWrong = why.includes('no answer in') || /NoStatus|NotJson/.test(why);
    if (isWrong) return [`${intent.verb} ${key} (${mark}) was answered with ${why}`];
    return why.startsWith('503') && made.has(mark)
      ? [`${intent.verb} ${key} (${mark}) was answered with ${why}, but took effect`]
      : [];
  });
}

/** Repeats a request that was not answered; AlreadyExists means that an earlier attempt was made. */
async function retried<T>(make: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + 180_000;
  for (;;) {
    try {
      return await make();
    } catch (error) {
      if (!(error instanceof ApiFailure && error.leavesDoubt) || Date.now() > deadline) throw error;
      await sleep(100);
    }
  }
}
