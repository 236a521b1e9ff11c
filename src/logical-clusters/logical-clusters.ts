import type { Caller } from '../cache/feed.js';
import { ApiError } from '../machinery/api-error.js';
import { readFresh } from '../registry/read/freshness.js';
import type { ResourceStore } from '../registry/resource-store.js';
import { assert } from '../std/assert.js';
import { every, type Clock, type Timer } from '../std/clock.js';
import type { Logger } from '../std/logger.js';

/** A LogicalCluster. Its uid, not its name, is in the keys: a cluster of the same name begins empty. */
export interface ClusterIdentity {
  readonly name: string;
  readonly uid: string;
}

/** The components of a logical cluster, in memory. */
export interface AwakeCluster {
  /** Issues a token of the cluster's administrator, valid for at most that time. */
  issueAdminToken(seconds: number): Promise<{ readonly token: string; readonly expiresAtMs: number }>;
  /** Ends its watches and reconcilers; resolves when it writes nothing more. */
  close(): Promise<void>;
}

interface Entry<Awake> {
  readonly identity: ClusterIdentity;
  awake: Awake | undefined;
  waking: Promise<Awake> | undefined;
  /** Pending while the cluster leaves memory. */
  leaving: Promise<void> | undefined;
  /** Requests and watches that use the cluster. */
  users: number;
  lastUsedMs: number;
  isRemoved: boolean;
}

interface Options<Awake> {
  /** The store of LogicalClusters in the root; undefined if --runtime-config disables them. */
  readonly objects: () => ResourceStore | undefined;
  readonly wake: (identity: ClusterIdentity) => Promise<Awake>;
  readonly awakeMax: number;
  readonly idleTimeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Clusters that wait for their turn to be read from the store. */
const wakingMax = 1000;
/** Time that a cluster waits for another one to be out of use. Most requests are shorter; watches are not. */
const roomTimeoutMs = 5_000;

/**
 * The logical clusters of a server. A cluster is a key prefix of the store; its components are constructed for the first
 * request, and dropped after a time without requests and watches, or for another cluster if too many are awake:
 *
 *   asleep --request--> waking --> awake --idle, or room for another--> leaving --> asleep
 */
export class LogicalClusters<Awake extends AwakeCluster = AwakeCluster> {
  private readonly entries = new Map<string, Entry<Awake>>();
  private awakeCount = 0;
  private waitingCount = 0;
  /** Clusters wake one after another: the work is that of the one thread. */
  private lastWaking: Promise<unknown> = Promise.resolve();
  private isClosed = false;
  /** Called when a cluster is out of use. */
  private whenUnused: (() => void) | undefined;
  private readonly sweeping: Timer;

  constructor(private readonly options: Options<Awake>) {
    const { clock, idleTimeoutMs } = options;
    this.sweeping = every(clock, Math.max(20, Math.min(idleTimeoutMs / 4, 30_000)), () => this.putIdleToSleep());
  }

  /** Returns the cluster of the name as the cache has it; undefined while it is being deleted. */
  known(name: string): ClusterIdentity | undefined {
    const objects = this.options.objects();
    const found = objects?.cache.get(objects.keyOf('', name));
    const { uid, lifetime } = found?.attributes ?? {};
    return uid === undefined || lifetime?.isDeleting ? undefined : { name, uid };
  }

  /** Like known(), after everything that was written before the call. */
  async find(name: string, caller?: Caller): Promise<ClusterIdentity | undefined> {
    const objects = this.options.objects();
    if (objects) await readFresh(objects.dependencies, objects.cache, undefined, caller);
    return this.known(name);
  }

  /** Returns the cluster if it is in memory. If so, the caller releases it after use. */
  acquireAwake({ uid }: ClusterIdentity): Awake | undefined {
    const entry = this.entries.get(uid);
    if (!entry?.awake) return undefined;
    entry.users++;
    return entry.awake;
  }

  /** Returns the cluster, reading it from the store if necessary. The caller releases it after use. */
  async acquire(identity: ClusterIdentity): Promise<Awake> {
    let entry = this.entries.get(identity.uid);
    if (!entry) this.entries.set(identity.uid, (entry = newEntry(identity)));
    entry.users++;
    try {
      return entry.awake ?? (await (entry.waking ?? this.beginWaking(entry)));
    } catch (error) {
      this.release(identity);
      throw error;
    }
  }

  release({ uid }: ClusterIdentity): void {
    const entry = this.entries.get(uid);
    if (!entry) return;
    assert(entry.users > 0, 'a cluster is released once');
    entry.users--;
    entry.lastUsedMs = this.options.clock.monotonicMs();
    if (entry.users === 0) this.whenUnused?.();
    this.forgetIfAsleep(entry);
  }

  /** Returns the clusters in memory. */
  awake(): Awake[] {
    return [...this.entries.values()].flatMap(({ awake }) => awake ?? []);
  }

  /** Ends all requests of a cluster that is deleted, and refuses more. Resolves when it writes nothing more. */
  async remove(identity: ClusterIdentity): Promise<void> {
    let entry = this.entries.get(identity.uid);
    if (!entry) this.entries.set(identity.uid, (entry = newEntry(identity)));
    entry.isRemoved = true;
    await entry.waking?.catch(() => undefined);
    await this.putToSleep(entry);
  }

  /** Forgets a cluster whose keys are deleted. */
  forget({ uid }: Pick<ClusterIdentity, 'uid'>): void {
    this.entries.delete(uid);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.sweeping.cancel();
    const entries = [...this.entries.values()];
    await Promise.allSettled(entries.flatMap(({ waking }) => waking ?? []));
    await Promise.allSettled(entries.map((entry) => this.putToSleep(entry)));
  }

  private beginWaking(entry: Entry<Awake>): Promise<Awake> {
    if (this.waitingCount >= wakingMax) throw ApiError.tooManyRequests('too many logical clusters are being read', 1);
    return (entry.waking = this.inTurn(entry));
  }

  private async inTurn(entry: Entry<Awake>): Promise<Awake> {
    this.waitingCount++;
    const before = this.lastWaking;
    const waking = before.then(() => this.wake(entry));
    this.lastWaking = waking.catch(() => undefined);
    try {
      return await waking;
    } finally {
      this.waitingCount--;
      entry.waking = undefined;
    }
  }

  private async wake(entry: Entry<Awake>): Promise<Awake> {
    await entry.leaving;
    this.checkServed(entry);
    await this.makeRoom();
    const awake = await this.options.wake(entry.identity);
    entry.awake = awake;
    this.awakeCount++;
    if (entry.isRemoved || this.isClosed) await this.putToSleep(entry);
    this.checkServed(entry);
    return awake;
  }

  private checkServed({ isRemoved, identity }: Entry<Awake>): void {
    if (isRemoved) throw ApiError.noSuchPage();
    if (this.isClosed)
      throw ApiError.unavailable(`the server is stopping; logical cluster ${identity.name} is not read`);
  }

  /** Puts the least recently used clusters to sleep until one more may be awake. */
  private async makeRoom(): Promise<void> {
    const { awakeMax, clock } = this.options;
    const deadlineMs = clock.monotonicMs() + roomTimeoutMs;
    while (this.awakeCount >= awakeMax) {
      let oldest: Entry<Awake> | undefined;
      for (const entry of this.entries.values()) {
        if (entry.awake && entry.users === 0 && (!oldest || entry.lastUsedMs < oldest.lastUsedMs)) oldest = entry;
      }
      if (oldest) await this.putToSleep(oldest);
      else if (clock.monotonicMs() < deadlineMs) await this.unused(deadlineMs - clock.monotonicMs());
      else {
        throw ApiError.tooManyRequests(
          `${awakeMax} logical clusters are in use, which is the limit (--logical-clusters-awake-max)`,
          1,
        );
      }
    }
  }

  /** Resolves when a cluster is out of use, or after that time. */
  private async unused(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = this.options.clock.after(ms, resolve);
      this.whenUnused = () => {
        timer.cancel();
        resolve();
      };
    });
    this.whenUnused = undefined;
  }

  private putIdleToSleep(): void {
    const { clock, idleTimeoutMs } = this.options;
    const lastMs = clock.monotonicMs() - idleTimeoutMs;
    for (const entry of this.entries.values()) {
      if (entry.awake && entry.users === 0 && entry.lastUsedMs <= lastMs) void this.putToSleep(entry);
    }
  }

  private putToSleep(entry: Entry<Awake>): Promise<void> {
    const { awake } = entry;
    if (!awake) return entry.leaving ?? Promise.resolve();
    entry.awake = undefined;
    const { logger } = this.options;
    entry.leaving = awake
      .close()
      .catch((error: unknown) =>
        logger.warn('a logical cluster did not end as it should', { cluster: entry.identity.name, error }),
      )
      .then(() => {
        this.awakeCount--;
        entry.leaving = undefined;
        this.forgetIfAsleep(entry);
      });
    return entry.leaving;
  }

  private forgetIfAsleep({ awake, waking, leaving, users, isRemoved, identity }: Entry<Awake>): void {
    if (!awake && !waking && !leaving && users === 0 && !isRemoved) this.entries.delete(identity.uid);
  }
}

function newEntry<Awake>(identity: ClusterIdentity): Entry<Awake> {
  return {
    identity,
    awake: undefined,
    waking: undefined,
    leaving: undefined,
    users: 0,
    lastUsedMs: 0,
    isRemoved: false,
  };
}
