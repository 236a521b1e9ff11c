import type { KubeconfigClient } from '../../src/kubeconfig-client/kubeconfig-client.js';
import { openKubeconfigClient } from '../../src/kubeconfig-client/open-client.js';
import { SeededRng } from '../../src/std/rng.js';
import { startTestServer } from '../harness/servers.js';

// The full run takes minutes: KEELSON_PAST_WRITES=200000 KEELSON_PAST_STATES=2000.
const writesCount = Number(process.env['KEELSON_PAST_WRITES'] ?? 2_000) / 2;
const statesCount = Number(process.env['KEELSON_PAST_STATES'] ?? 150) / 2;

if (process.env['KEELSON_PAST_WRITES'] !== undefined) jest.setTimeout(3_600_000);

const path = '/api/v1/namespaces/default/configmaps';
const namesCount = 300;
/** Concurrent writes between two deletions, whose resourceVersion only a list tells. */
const batchSize = 20;
/** No state is compacted, however long the run takes. */
const storage = { etcd: { compactionIntervalMs: 0 } };
const pageSize = 100;

/** The content of an object from a resourceVersion on; undefined after its deletion. */
interface State {
  readonly version: number;
  readonly value: string | undefined;
}

interface ConfigMap {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly data?: { readonly value: string };
}

/** Writes objects at random, and remembers each state with its resourceVersion. */
class Writer {
  readonly states = new Map<string, State[]>();
  /** ResourceVersions at which all states are known. */
  readonly versions: number[] = [];
  private count = 0;

  constructor(
    private readonly client: KubeconfigClient,
    private readonly rng: SeededRng,
  ) {}

  async write(count: number): Promise<void> {
    while (this.count < count) {
      const names = new Set(Array.from({ length: batchSize }, () => `map-${this.rng.below(namesCount)}`));
      await Promise.all([...names].map((name) => this.put(name)));
      const present = [...this.states].filter(([, states]) => states.at(-1)!.value !== undefined);
      await this.delete(present[this.rng.below(present.length)]![0]);
    }
  }

  /** The objects at a resourceVersion, as the writes left them. */
  at(version: number): Record<string, string> {
    const found: Record<string, string> = {};
    for (const [name, states] of this.states) {
      const value = states.findLast((state) => state.version <= version)?.value;
      if (value !== undefined) found[name] = value;
    }
    return found;
  }

  private async put(name: string): Promise<void> {
    const value = `${++this.count}`;
    const object = { metadata: { name }, data: { value } };
    const exists = this.states.get(name)?.at(-1)?.value !== undefined;
    const written = exists
      ? await this.client.update<ConfigMap>(`${path}/${name}`, object)
      : await this.client.create<ConfigMap>(path, object);
    this.note(name, Number(written.metadata.resourceVersion), value);
  }

  private async delete(name: string): Promise<void> {
    this.count++;
    await this.client.delete(`${path}/${name}`);
    const { metadata } = await this.client.list(path, { query: { limit: 1 } });
    this.note(name, Number(metadata.resourceVersion), undefined);
  }

  private note(name: string, version: number, value: string | undefined): void {
    const states = this.states.get(name) ?? [];
    states.push({ version, value });
    this.states.set(name, states);
    this.versions.push(version);
  }
}

it.each([
  { store: 'memory', limits: {} },
  // Past states are read from the store alone.
  { store: 'embedded', limits: { historyEventsPerResourceMax: 300, snapshotRetentionMs: 0 } },
] as const)(
  'lists at random past resourceVersions equal a model of all writes on $store',
  async ({ store, limits }) => {
    const server = await startTestServer({ store, naming: 'kubernetes' }, { config: { limits, storage } });
    const client = await openKubeconfigClient({ text: server.keelson.kubeconfig });
    try {
      const rng = new SeededRng(7);
      const writer = new Writer(client, rng);
      const begin = performance.now();
      await writer.write(writesCount);
      const written = performance.now();
      for (let read = 0; read < statesCount; read++) {
        const version = writer.versions[rng.below(writer.versions.length)]!;
        const isPaged = read % 2 === 1;
        expect([version, await listedAt(client, version, isPaged)]).toEqual([version, writer.at(version)]);
      }
      if (process.env['KEELSON_PAST_WRITES'] !== undefined) {
        const ms = (from: number, to: number, count: number) => ((to - from) / count).toFixed(2);
        const each = `${ms(begin, written, writesCount)} ms a write, ${ms(written, performance.now(), statesCount)} ms a state`;
        process.stderr.write(`${store}: ${writesCount} writes, ${statesCount} states: ${each}\n`);
      }
    } finally {
      client.close();
      await server.stop();
    }
  },
);

async function listedAt(client: KubeconfigClient, version: number, isPaged: boolean): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const exact = { resourceVersion: String(version), resourceVersionMatch: 'Exact' };
  let next: string | undefined;
  do {
    const position = next === undefined ? exact : { continue: next };
    const query = isPaged ? { ...position, limit: pageSize } : position;
    const list = await client.list<ConfigMap>(path, { query });
    expect(Number(list.metadata.resourceVersion)).toBe(version);
    for (const { metadata, data } of list.items) if (data) found[metadata.name] = data.value;
    next = list.metadata.continue || undefined;
  } while (next !== undefined);
  return found;
}
