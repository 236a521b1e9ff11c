import { ManualClock } from '../../src/std/clock.js';
import { SeededRng, type Rng } from '../../src/std/rng.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import type { Api } from './api.js';
import { CoreServer } from './core-server.js';
import { Crowd } from './crowd.js';
import { isFaultless, removeFaults, noFaults, randomFaults, type Faults } from './faults.js';
import { violationsOf, type Violation } from './guarantees.js';
import { ServerAddress } from './server-address.js';
import { History } from './history.js';
import { pick } from './selection.js';

export interface SimulationOptions {
  readonly seed: number;
  readonly clients?: number;
  readonly simulatedMs?: number;
  readonly faults?: 'random' | 'none';
  /** Wraps the servers that clients call, to check that faults in them are detected. */
  readonly wrapApi?: (api: Api) => Api;
  /** Wraps the store in the same way. */
  readonly wrapStore?: (store: KvStore) => KvStore;
}

interface SimulationReport {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly revisions: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

/**
 * Simulates two servers on one store with injected faults, and clients of both. Time is simulated and all randomness
 * comes from the seed: the same seed gives the same run. At the end the faults stop, pending work finishes, and the
 * answers are checked against the store's history.
 */
export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  const run = new Run(options);
  await run.begin();
  await run.pass(options.simulatedMs ?? 8_000);
  return run.finish();
}

class Run {
  private readonly clock = new ManualClock();
  private readonly rng: Rng;
  private readonly store: MemoryStore;
  private readonly history = new History();
  private readonly crowd: Crowd;
  private readonly faults: Faults[] = [];
  private readonly faultNames: readonly string[];
  private readonly servers: CoreServer[] = [];
  private readonly addresses = [new ServerAddress('server-0'), new ServerAddress('server-1')];
  private readonly historyEventsMax: number;
  private readonly mismatches: Violation[] = [];
  private readonly isFaultless: boolean;

  constructor(private readonly options: SimulationOptions) {
    this.rng = new SeededRng(options.seed);
    this.store = new MemoryStore({ clock: this.clock, historyMs: 3_600_000 });
    this.history.follow(this.store, (error) => {
      this.mismatches.push({ guarantee: 'no-surprise', message: `the store ended its watch: ${error.message}` });
    });
    for (let n = 0; n < this.addresses.length; n++) {
      const rng = this.fork();
      this.faults.push(options.faults === 'none' ? noFaults(this.clock, rng) : randomFaults(this.clock, rng));
    }
    this.isFaultless = this.faults.every(isFaultless);
    this.crowd = new Crowd({
      apis: this.addresses,
      clock: this.clock,
      fork: () => this.fork(),
      pauseMsMax: 60,
      mayFail: () => !this.isFaultless,
    });
    this.historyEventsMax = pick(this.rng, this.isFaultless ? [16_384] : [10, 50, 300, 16_384]);
    this.faultNames = this.faults.map(({ clock: _clock, rng: _rng, ...faults }) => JSON.stringify(faults));
  }

  async begin(): Promise<void> {
    for (const [index] of this.addresses.entries()) await this.open(index);
    await this.during(this.crowd.makeNamespaces());
    this.crowd.start(this.options.clients ?? 10);
  }

  /** Advances the time; now and then a server is restarted. */
  async pass(ms: number): Promise<void> {
    const end = this.clock.now() + ms;
    const restarts = this.isFaultless ? 0 : this.rng.below(3);
    const restartMs = Array.from({ length: restarts }, () => this.clock.now() + this.rng.below(ms));
    while (this.clock.now() < end) {
      const due = restartMs.findIndex((at) => at <= this.clock.now());
      if (due >= 0) {
        restartMs.splice(due, 1);
        await this.restart(this.rng.below(this.addresses.length));
      }
      await this.tick(1 + this.rng.below(5));
    }
  }

  async finish(): Promise<SimulationReport> {
    for (const faults of this.faults) removeFaults(faults);
    this.servers.forEach((server) => server.heal());
    await this.during(this.crowd.stop());
    for (let ms = 0; ms < 6_000; ms += 5) await this.tick(5);
    for (const server of this.servers) await server.check();
    const violations = [...this.mismatches, ...violationsOf(this.history, this.crowd.ledger)];
    for (const server of this.servers) {
      const { position } = server.components.feed;
      if (position !== this.history.head)
        violations.push({
          guarantee: 'cache-is-store',
          message: `a cache stopped at ${position}, before ${this.history.head}`,
        });
    }
    this.crowd.close();
    for (const server of this.servers) await server.close();
    await this.store.close();
    return {
      seed: this.options.seed,
      violations,
      revisions: this.history.head,
      counts: this.crowd.ledger.counts(),
      faults: this.faultNames,
    };
  }

  private async open(index: number): Promise<void> {
    const address = this.addresses[index]!;
    const server = await CoreServer.make({
      name: address.name,
      store: this.options.wrapStore?.(this.store) ?? this.store,
      checkedStore: this.store,
      faults: this.faults[index]!,
      clock: this.clock,
      rng: this.fork(),
      historyEventsMax: this.historyEventsMax,
      mismatch: (message) => this.mismatches.push({ guarantee: 'cache-is-store', message }),
    });
    await this.during(server.start());
    this.servers[index] = server;
    address.behind = this.options.wrapApi?.(server.api) ?? server.api;
  }

  private async restart(index: number): Promise<void> {
    this.addresses[index]!.behind = undefined;
    await this.servers[index]!.close();
    await this.open(index);
  }

  /** Advances the time until the work is done. */
  private async during<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = work.finally(() => (isDone = true));
    done.catch(() => undefined);
    for (let ticks = 0; !isDone; ticks++) {
      if (ticks > 100_000) throw new Error(`seed ${this.options.seed}: the work never finishes`);
      await this.tick(5);
    }
    return done;
  }

  private async tick(ms: number): Promise<void> {
    this.clock.advance(ms);
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  }

  private fork(): Rng {
    return new SeededRng(this.rng.below(2 ** 31));
  }
}

/** Describes a failed run: the seed, then each violated guarantee. */
export function describeReport({ seed, violations, revisions, counts, faults }: SimulationReport): string {
  const numbers = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  const lines = [`seed ${seed}: ${revisions} revisions, ${numbers.join(', ')}`];
  if (violations.length === 0) return lines.join('\n');
  lines.push(...faults.map((fault, index) => `  store of server ${index}: ${fault}`));
  const shown = 10;
  for (const { guarantee, message } of violations.slice(0, shown)) lines.push(`  violates ${guarantee}: ${message}`);
  if (violations.length > shown) lines.push(`  and ${violations.length - shown} more`);
  return lines.join('\n');
}
