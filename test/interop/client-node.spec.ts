import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { SeededRng } from '../../src/std/rng.js';
import { startKeelson, type Keelson } from '../../src/testing.js';
import { describeWithEtcd, EtcdCluster } from '../harness/etcd.js';
import { eventually } from '../harness/eventually.js';
import { HttpClient } from '../harness/http-client.js';
import { freePorts } from '../harness/ports.js';
import { chosenSeed } from '../harness/seed.js';

/**
 * Informers of the official JavaScript client, which list once and then watch from there. The client uses HTTP/1.1
 * only. Their notifications are compared with the writes: each change once and in order while the store has the
 * history; after compaction the state, and the changes that lead to it.
 */
const namespace = 'informed';
const collection = `/api/v1/namespaces/${namespace}/configmaps`;
const seed = chosenSeed();

type InformerName = 'all' | 'some';

interface Told {
  readonly informer: InformerName;
  readonly what: 'add' | 'update' | 'delete' | 'connect' | 'failed' | 'stopped';
  readonly name?: string;
  readonly version?: string;
  readonly value?: string;
}

/** A change as each of the informers must report it. */
type Change = `${'add' | 'update' | 'delete'} ${string}`;

class Informers {
  readonly told: Told[] = [];
  private readonly child: ChildProcess;

  constructor(kubeconfig: string) {
    const script = join(__dirname, '../harness/informers.mjs');
    this.child = spawn(process.execPath, [script, kubeconfig, namespace], { stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface(this.child.stdout!).on('line', (line) => this.told.push(JSON.parse(line) as Told));
  }

  order(word: 'start' | 'stop'): void {
    this.child.stdin!.write(`${word}\n`);
  }

  changes(informer: InformerName, from = 0): Change[] {
    return this.told
      .slice(from)
      .filter((one) => one.informer === informer)
      .flatMap(({ what, name, value, version }): Change[] => {
        const isChange = what === 'add' || what === 'update' || what === 'delete';
        return isChange ? [`${what} ${name} ${value ?? ''} ${version}`] : [];
      });
  }

  count(what: Told['what']): number {
    return this.told.filter((one) => one.what === what).length;
  }

  /** The state that results from the notifications of an informer. */
  state(informer: InformerName): Record<string, string> {
    const state = new Map<string, string>();
    for (const { informer: by, what, name, value } of this.told) {
      if (by !== informer || name === undefined) continue;
      if (what === 'delete') state.delete(name);
      else state.set(name, value ?? '');
    }
    return Object.fromEntries([...state].sort());
  }

  async close(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
  }
}

/** Writes at random, and records the expected notifications of each informer. */
class Writer {
  readonly changes: Record<InformerName, Change[]> = { all: [], some: [] };
  private readonly held = new Map<string, { value: string; isChosen: boolean }>();
  private written = 0;

  constructor(private readonly rng: SeededRng) {}

  state(informer: InformerName): Record<string, string> {
    const shown = [...this.held].filter(([, { isChosen }]) => informer === 'all' || isChosen);
    return Object.fromEntries(shown.map(([name, { value }]): [string, string] => [name, value]).sort());
  }

  /** `chosen`: an object that both informers select. */
  async write(client: HttpClient, count: number, chosen?: string): Promise<void> {
    for (let n = 0; n < count; n++) {
      await this.change(client, chosen ?? `m-${this.rng.below(12)}`, chosen !== undefined || this.rng.below(2) === 0);
    }
  }

  private async change(client: HttpClient, name: string, isChosen: boolean): Promise<void> {
    const before = this.held.get(name);
    if (before && this.rng.below(4) === 0) {
      const answer = await client.delete(`${collection}/${name}`);
      expect(answer.code).toBe(200);
      this.held.delete(name);
      // The answer does not contain the revision of the deletion; the event does.
      this.note(name, before, undefined, '');
      return;
    }
    const after = { value: `v${++this.written}`, isChosen };
    const metadata = { name, labels: { chosen: after.isChosen ? 'yes' : 'no' } };
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value: after.value } };
    const answer = before ? await client.put(`${collection}/${name}`, body) : await client.post(collection, body);
    expect(answer.code).toBe(before ? 200 : 201);
    this.held.set(name, after);
    const { resourceVersion } = (answer.body as { metadata: { resourceVersion: string } }).metadata;
    this.note(name, before, after, resourceVersion);
  }

  private note(
    name: string,
    before: { value: string; isChosen: boolean } | undefined,
    after: { value: string; isChosen: boolean } | undefined,
    version: string,
  ): void {
    for (const informer of ['all', 'some'] as const) {
      const did = before && (informer === 'all' || before.isChosen);
      const does = after && (informer === 'all' || after.isChosen);
      if (does) this.changes[informer].push(`${did ? 'update' : 'add'} ${name} ${after.value} ${version}`);
      else if (did) this.changes[informer].push(`delete ${name} ${before.value} ${version}`);
    }
  }
}

/**
 * The version of a deletion is known from its event only; an object that leaves a selection is reported with its last
 * matching value.
 */
const withoutDeletedVersions = (changes: readonly Change[]) =>
  changes.map((change) => change.replace(/^(delete \S+ \S*) \d*$/, '$1'));

describeWithEtcd('informers of @kubernetes/client-node', () => {
  const rng = new SeededRng(seed);
  const writer = new Writer(rng);
  let etcd: EtcdCluster;
  let port: number;
  let keelson: Keelson;
  let client: HttpClient;
  let informers: Informers;

  async function startServer(): Promise<void> {
    const storage = { backend: 'etcd3' as const, etcd: { servers: etcd.storeOptions.servers } };
    keelson = await startKeelson({ config: { storage, serving: { securePort: port } }, reconciles: false });
    client = new HttpClient({ url: keelson.url, ca: keelson.ca, ...keelson.client });
  }

  async function restartServer(): Promise<void> {
    client.close();
    await keelson.stop();
    await startServer();
  }

  async function allIsTold(): Promise<void> {
    for (const informer of ['all', 'some'] as const) {
      const want = writer.state(informer);
      await eventually(`seed ${seed}: the state of "${informer}" is what was written`, () => {
        return JSON.stringify(informers.state(informer)) === JSON.stringify(want);
      });
    }
  }

  function everyChangeWasToldOnce(from = { all: 0, some: 0 }, toldFrom = 0): void {
    for (const informer of ['all', 'some'] as const) {
      const told = withoutDeletedVersions(informers.changes(informer, toldFrom));
      expect({ seed, informer, told }).toEqual({
        ...{ seed, informer },
        told: withoutDeletedVersions(writer.changes[informer].slice(from[informer])),
      });
    }
  }

  beforeAll(async () => {
    etcd = await EtcdCluster.start();
    [port] = (await freePorts(1)) as [number];
    await startServer();
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    expect((await client.post('/api/v1/namespaces', body)).code).toBe(201);
    informers = new Informers(await keelson.kubeconfigFile());
    await writer.write(client, 1, 'first');
    informers.order('start');
    // Writes before their lists may be reported as one.
    await eventually('both informers have listed', () => informers.count('add') === 2);
  });
  afterAll(async () => {
    await informers.close();
    client.close();
    await keelson.stop();
    await etcd.stop();
  });

  it('report every change once and in order', async () => {
    await writer.write(client, 150);
    await allIsTold();
    everyChangeWasToldOnce();
  });

  it('resume after a restart of the server', async () => {
    for (let round = 0; round < 3; round++) {
      await writer.write(client, 20);
      await restartServer();
      await writer.write(client, 20);
    }
    await allIsTold();
    everyChangeWasToldOnce();
    expect(informers.count('failed')).toBeGreaterThan(0);
  });

  it('resume after a restart of etcd', async () => {
    const [member] = etcd.members;
    await member!.kill();
    member!.start();
    await member!.serving();
    await eventually('writes are possible again', async () => {
      const answer = await client.get(collection).catch(() => undefined);
      return answer?.code === 200;
    });
    await writer.write(client, 60);
    await allIsTold();
    everyChangeWasToldOnce();
  });

  it('list again after their version was compacted', async () => {
    informers.order('stop');
    await eventually('both informers have stopped', () => informers.count('stopped') === 2);
    await writer.write(client, 80);
    const store = await etcd.openStore();
    await store.compact(await store.revision());
    await store.close();
    // A new server does not have the old versions in its cache.
    await restartServer();
    const toldBefore = informers.told.length;
    informers.order('start');
    await allIsTold();
    for (const informer of ['all', 'some'] as const) {
      const names = informers.changes(informer, toldBefore).map((change) => change.split(' ')[1]);
      expect({ seed, informer, names: names.sort() }).toEqual({ seed, informer, names: [...new Set(names)].sort() });
    }
    const from = { all: writer.changes.all.length, some: writer.changes.some.length };
    const toldFrom = informers.told.length;
    await writer.write(client, 40);
    await allIsTold();
    everyChangeWasToldOnce(from, toldFrom);
  });
});
