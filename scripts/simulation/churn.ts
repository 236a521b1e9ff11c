import { encodeStored } from '../../src/codec/stored-object.js';
import { json } from '../../src/codec/encodings.js';
import { parseListOptions } from '../../src/machinery/list-options.js';
import { Query } from '../../src/machinery/query.js';
import { revisionOf } from '../../src/machinery/revision.js';
import { Renderings } from '../../src/answers/rendering.js';
import { listObjects } from '../../src/registry/read/list.js';
import { watchObjects } from '../../src/registry/read/watch.js';
import { systemClock } from '../../src/std/clock.js';
import { SeededRng } from '../../src/std/rng.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import { ChurnLog, type ChurnSelection } from './churn-log.js';
import { ChurnWatcher, type ChurnCounts, type ChurnApi, type ChurnPace } from './churn-watcher.js';
import { CoreServer } from './core-server.js';
import { noFaults } from './faults.js';
import type { Violation } from './guarantees.js';

interface ChurnOptions {
  readonly seed: number;
  readonly events: number;
  readonly watchers: number;
  /**
   * Limit of the event history of a server; the store keeps twice as many. Small, so that slow watchers fall behind.
   */
  readonly keptEventsMax?: number;
}

interface ChurnReport extends ChurnCounts {
  readonly seed: number;
  readonly events: number;
  readonly restarts: number;
  readonly compactions: number;
  readonly seconds: number;
  readonly rssBytesMax: number;
  readonly violations: readonly Violation[];
}

const namespaces = ['n-0', 'n-1', 'n-2', 'n-3'];
const keysPerNamespace = 250;
const batchEvents = 256;
/** Limit on the events that writers are ahead of the caches, since they are faster than any client. */
const aheadEventsMax = 1_024;
const violationsMax = 20;

/**
 * Many writes to a few objects, through two servers on one store, with watchers of all speeds. Each event is compared
 * on arrival with the expected one, so that a run may be of any length.
 */
export async function churn(options: ChurnOptions): Promise<ChurnReport> {
  const run = new ChurnRun(options);
  await run.begin();
  await run.write();
  return run.finish();
}

class ChurnRun {
  private readonly rng: SeededRng;
  private readonly log = new ChurnLog(namespaces, keysPerNamespace);
  private readonly store = new MemoryStore({ historyMs: 3_600_000 });
  private readonly counts: ChurnCounts = { sent: 0, bookmarks: 0, expired: 0, resumed: 0, lagEventsMax: 0 };
  private readonly violations: Violation[] = [];
  private readonly servers: (CoreServer | undefined)[] = [];
  private readonly apis: ChurnApi[];
  private readonly watchers: ChurnWatcher[];
  private readonly keptEventsMax: number;
  private readonly beginMs = systemClock.monotonicMs();
  private restarts = 0;
  private compactions = 0;
  private rssBytesMax = 0;

  constructor(private readonly options: ChurnOptions) {
    this.rng = new SeededRng(options.seed);
    this.keptEventsMax = options.keptEventsMax ?? 4_096;
    this.apis = [0, 1].map((index) => this.apiOf(index));
    this.watchers = Array.from({ length: options.watchers }, (_, n) => this.watcher(n));
  }

  async begin(): Promise<void> {
    for (const [index] of this.apis.entries()) await this.open(index);
    this.log.head = await this.store.revision();
    await this.openWatchers();
  }

  async write(): Promise<void> {
    const { events } = this.options;
    let keptFrom = this.log.head;
    for (let written = 0; written < events;) {
      for (let n = 0; n < batchEvents && written < events; n++, written++) await this.writeOne();
      while (
        this.servers.some((server) => server && server.components.feed.position < this.log.head - aheadEventsMax)
      ) {
        await new Promise(setImmediate);
      }
      await new Promise(setImmediate);
      if (this.log.head - keptFrom > 4 * this.keptEventsMax) {
        keptFrom = this.log.head - 2 * this.keptEventsMax;
        await this.store.compact(revisionOf(keptFrom));
        this.compactions++;
      }
      if (this.rng.below(8) === 0) this.watchers.forEach((watcher) => watcher.bookmark());
      if (this.rng.below(Math.ceil(events / batchEvents / 4)) === 0) await this.restart(this.rng.below(2));
      await this.openWatchers();
      this.rssBytesMax = Math.max(this.rssBytesMax, process.memoryUsage.rss());
    }
  }

  async finish(): Promise<ChurnReport> {
    this.watchers.forEach((watcher) => watcher.stopPacing());
    const deadlineMs = systemClock.monotonicMs() + 60_000;
    while (!this.watchers.every(({ isDone }) => isDone) && systemClock.monotonicMs() < deadlineMs) {
      await this.openWatchers();
      await new Promise(setImmediate);
    }
    for (const { name, isDone } of this.watchers)
      if (!isDone) this.violated('reliable', `${name} did not receive all events within a minute`);
    for (const server of this.servers) await server?.check();
    this.watchers.forEach((watcher) => watcher.close());
    for (const server of this.servers) await server?.close();
    await this.store.close();
    const { seed, events } = this.options;
    return {
      ...{ seed, events, ...this.counts, restarts: this.restarts, compactions: this.compactions },
      seconds: (systemClock.monotonicMs() - this.beginMs) / 1000,
      rssBytesMax: this.rssBytesMax,
      violations: this.violations,
    };
  }

  private async writeOne(): Promise<void> {
    const { key, color, isDeletion } = this.log.next(this.rng);
    const path = `/registry/configmaps/${key.namespace}/${key.name}`;
    const revision = this.log.head + 1;
    // Recorded before the write: a watcher may see the event before the answer arrives. There is no other writer.
    this.log.record(key, revision, color, isDeletion);
    const labels = color === undefined ? {} : { labels: { color } };
    const metadata = { name: key.name, namespace: key.namespace, ...labels };
    const value = encodeStored({ kind: 'ConfigMap', apiVersion: 'v1', metadata, data: { at: String(revision) } });
    const change = isDeletion ? ({ type: 'delete', key: path } as const) : ({ type: 'put', key: path, value } as const);
    const result = await this.store.txn([], [change]);
    if (result.revision !== revision)
      throw new Error(`another writer: revision ${result.revision} instead of ${revision}`);
  }

  private watcher(n: number): ChurnWatcher {
    const paces: ChurnPace[] = [
      'fast',
      'fast',
      'fast',
      'fast',
      'paced',
      'paced',
      'paced',
      'restless',
      'restless',
      'slow',
    ];
    const { selections } = this.log;
    const selection = selections[n % selections.length]!;
    const pace = paces[Math.floor(n / selections.length) % paces.length]!;
    return new ChurnWatcher(`${pace} watcher ${n} of "${selection.namespace}" ${selection.query}`, pace, selection, {
      ...{ log: this.log, clock: systemClock, counts: this.counts, apis: this.apis },
      rng: new SeededRng(this.rng.below(2 ** 31)),
      violated: (guarantee, message) => this.violated(guarantee, message),
    });
  }

  private violated(guarantee: Violation['guarantee'], message: string): void {
    if (this.violations.length < violationsMax) this.violations.push({ guarantee, message });
  }

  private async openWatchers(): Promise<void> {
    await Promise.all(this.watchers.map((watcher) => watcher.open()));
  }

  private apiOf(index: number): ChurnApi {
    const served = () => {
      const server = this.servers[index];
      if (!server) throw new Error('the server is down');
      return server.components;
    };
    const optionsOf = ({ query }: ChurnSelection, more: string) => {
      const { metaGroup } = served();
      const isWatch = more.includes('watch');
      return parseListOptions(new Query([query, more].filter(Boolean).join('&')), { metaGroup, isWatchPath: isWatch });
    };
    const storeOf = () => served().registry.require('', 'v1', 'configmaps').store;
    return {
      list: async (selection) => {
        const { namespace } = selection;
        return (await listObjects(storeOf(), { namespace, options: optionsOf(selection, 'resourceVersion=0') }))
          .revision;
      },
      watch: async (selection, after, watcher) => {
        const options = optionsOf(selection, `watch=1&allowWatchBookmarks=true&resourceVersion=${after}`);
        const { namespace } = selection;
        const begin = await watchObjects(storeOf(), { namespace, options, rendering: this.rendering(index) });
        return begin(watcher);
      },
    };
  }

  private rendering(index: number) {
    const { components } = this.servers[index]!;
    const { definition } = components.registry.require('', 'v1', 'configmaps');
    const { metaGroup, clock, config } = components;
    const renderings = new Renderings(definition, {
      ...{ metaGroup, clock },
      initialEventsEnd: config.naming.apiLabel('initial-events-end'),
    });
    return renderings.of({ encoding: json, pretty: false, transform: undefined, includeObject: 'Metadata' });
  }

  private async open(index: number): Promise<void> {
    const server = await CoreServer.make({
      name: `server-${index}`,
      ...{ store: this.store, checkedStore: this.store, historyEventsMax: this.keptEventsMax },
      faults: noFaults(systemClock, this.rng),
      clock: systemClock,
      rng: new SeededRng(this.rng.below(2 ** 31)),
      mismatch: (message) => this.violated('cache-is-store', message),
    });
    await server.start();
    this.servers[index] = server;
  }

  private async restart(index: number): Promise<void> {
    const server = this.servers[index];
    this.servers[index] = undefined;
    await server?.close();
    await this.open(index);
    this.restarts++;
  }
}

export function describeChurn(report: ChurnReport): string {
  const { seed, events, seconds, sent, bookmarks, expired, resumed, lagEventsMax, restarts, compactions } = report;
  const lines = [
    `seed ${seed}: ${events} events in ${seconds.toFixed(1)} s, sent ${sent} times (${Math.round(sent / seconds)} a second)`,
    `${bookmarks} bookmarks, ${resumed} resumed, ${expired} expired, ${restarts} restarts, ${compactions} compactions`,
    `at most ${lagEventsMax} events behind, ${Math.round(report.rssBytesMax / 2 ** 20)} MiB resident`,
  ];
  for (const { guarantee, message } of report.violations) lines.push(`  violates ${guarantee}: ${message}`);
  return lines.join('\n');
}
