import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { asCommand, print } from '../scripts/as-command.js';
import { nameIn, numberIn, readOptions, wholeNumberIn } from '../scripts/read-options.js';
import type { Node } from '../src/catalog/types/core.v1.js';
import { Http2Client } from './lib/http2-client.js';
import { cpuSeconds, residentMiB } from './lib/process-figures.js';
import { startOurs, stores, type Server, type StoreName } from './lib/servers.js';

const help = `node dist/bench/nodes.js [options]

Simulates nodes that renew their Leases every 10 seconds, some of which stop. Prints the CPU time and memory of the server,
the latency of renewals, when the silent nodes became Unknown after their last renewal, and how fast they were tainted and
their Pods evicted. The documented rate is one node in ten seconds and zone while less than 55 % of the nodes of a zone are
silent.

  --nodes N     all nodes, of three zones; the default is 2000
  --silent N    nodes that stop; the default is 200
  --seconds N   time in which all nodes renew their Leases; the default is 60
  --after N     time for which the silent nodes are observed; the default is 120
  --store NAME  memory (the default) or embedded
  --help        prints this help`;

const renewMs = 10_000;
const zones = 3;
const tolerationSeconds = 20;
const mergePatch = 'application/merge-patch+json';
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
const pods = '/api/v1/namespaces/default/pods';
const inParallel = 16;

interface Setting {
  readonly nodes: number;
  readonly silent: number;
  readonly seconds: number;
  readonly after: number;
  readonly store: StoreName;
}

const microTime = (): string => new Date().toISOString().replace('Z', '000Z');
const inSeconds = (ms: number): string => (ms / 1000).toFixed(1);
/** Returns the value below which `share` of the sorted values lie. */
const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

class SimulatedNodes {
  readonly lastRenewalMs = new Map<string, number>();
  private latenciesMs: number[] = [];
  private failures = 0;
  private silentFromMs = Number.POSITIVE_INFINITY;
  private isOver = false;

  constructor(
    private readonly client: Http2Client,
    readonly names: readonly string[],
    readonly silent: ReadonlySet<string>,
  ) {}

  /** Creates all Nodes with their Leases, and a Pod on each node that will be silent. */
  async join(): Promise<void> {
    const waiting = [...this.names.entries()];
    const work = async () => {
      for (let entry = waiting.pop(); entry; entry = waiting.pop()) await this.joinOne(entry[1], entry[0] % zones);
    };
    await Promise.all(Array.from({ length: inParallel }, work));
  }

  renewAll(): void {
    for (const name of this.names) setTimeout(() => void this.renew(name), Math.random() * renewMs);
  }

  /** Stops renewing the Leases of the silent nodes. */
  silence(): void {
    this.silentFromMs = performance.now();
  }

  stop(): void {
    this.isOver = true;
  }

  /** Returns the latency of the renewals since the last call. */
  takeLatency(): string {
    const sorted = this.latenciesMs.sort((a, b) => a - b);
    this.latenciesMs = [];
    const figures = [0.5, 0.99, 1].map((share) => quantile(sorted, share).toFixed(1));
    return `renewals ${sorted.length}, failed ${this.failures}, p50 ${figures[0]}, p99 ${figures[1]}, max ${figures[2]} ms`;
  }

  private async joinOne(name: string, zone: number): Promise<void> {
    const labels = { 'topology.kubernetes.io/zone': `zone-${zone}` };
    const now = new Date().toISOString();
    const ready = { type: 'Ready', status: 'True', lastHeartbeatTime: now, lastTransitionTime: now };
    const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: microTime() };
    await this.created('/api/v1/nodes', { metadata: { name, labels } });
    await this.client.call('PATCH', `/api/v1/nodes/${name}/status`, { status: { conditions: [ready] } }, mergePatch);
    await this.created(leases, { metadata: { name }, spec });
    this.lastRenewalMs.set(name, performance.now());
    if (this.silent.has(name)) await this.created(pods, podOn(name));
  }

  private async created(path: string, object: object): Promise<void> {
    const { code, text } = await this.client.call('POST', path, object);
    if (code !== 201) throw new Error(`POST ${path} was answered with ${code}: ${text}`);
  }

  private async renew(name: string): Promise<void> {
    const startedMs = performance.now();
    if (this.isOver || (this.silent.has(name) && startedMs > this.silentFromMs)) return;
    setTimeout(() => void this.renew(name), renewMs);
    const change = { spec: { renewTime: microTime() } };
    const answer = await this.client.call('PATCH', `${leases}/${name}`, change, mergePatch).catch(() => undefined);
    this.latenciesMs.push(performance.now() - startedMs);
    if (answer?.code === 200) this.lastRenewalMs.set(name, startedMs);
    else this.failures++;
  }
}

function podOn(nodeName: string): object {
  const toleration = { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' };
  return {
    metadata: { name: `on-${nodeName}` },
    spec: {
      nodeName,
      automountServiceAccountToken: false,
      containers: [{ name: 'main', image: 'registry.example/bench/main:1.0' }],
      tolerations: [{ ...toleration, tolerationSeconds }],
    },
  };
}

/** Times of what happened to the silent nodes and to their Pods. */
class Consequences {
  /** Time from the last renewal of a node to its condition Ready=Unknown. */
  readonly unknownAfterMs = new Map<string, number>();
  readonly taintedAtMs = new Map<string, number>();
  readonly evictedAtMs = new Map<string, number>();

  constructor(client: Http2Client, nodes: SimulatedNodes) {
    client.watch('/api/v1/nodes?watch=1', ({ object }) => {
      const { metadata, spec, status } = object as Node;
      const name = metadata.name ?? '';
      const isUnknown = status?.conditions?.some((found) => found.type === 'Ready' && found.status === 'Unknown');
      const isTainted = spec?.taints?.some(({ effect }) => effect === 'NoExecute');
      const now = performance.now();
      if (isUnknown && !this.unknownAfterMs.has(name))
        this.unknownAfterMs.set(name, now - nodes.lastRenewalMs.get(name)!);
      if (isTainted && !this.taintedAtMs.has(name)) this.taintedAtMs.set(name, now);
    });
    client.watch(`${pods}?watch=1`, ({ object }) => {
      const { metadata } = object as { metadata: { name: string; deletionTimestamp?: string } };
      const isNew = !this.evictedAtMs.has(metadata.name);
      if (metadata.deletionTimestamp !== undefined && isNew) this.evictedAtMs.set(metadata.name, performance.now());
    });
  }
}

/** Returns the number of events a minute between the first and the last of them. */
function perMinute(times: readonly number[]): string {
  const [first = 0, last = 0] = [Math.min(...times), Math.max(...times)];
  return times.length < 2 ? '-' : (((times.length - 1) * 60_000) / (last - first)).toFixed(1);
}

function report({ unknownAfterMs, taintedAtMs, evictedAtMs }: Consequences, { silent, names }: SimulatedNodes): void {
  const others = [...unknownAfterMs.keys()].filter((name) => !silent.has(name)).length;
  const delays = [...unknownAfterMs.values()].sort((a, b) => a - b);
  print(
    `Unknown: ${delays.length - others} of ${silent.size} silent nodes, ${inSeconds(delays[0] ?? 0)} to ${inSeconds(delays.at(-1) ?? 0)} s ` +
      `after the last renewal (median ${inSeconds(quantile(delays, 0.5))} s); ${others} of the ${names.length - silent.size} others`,
  );
  print(`tainted NoExecute: ${taintedAtMs.size} nodes, ${perMinute([...taintedAtMs.values()])} a minute`);
  const waits = [...evictedAtMs].map(([name, atMs]) => atMs - taintedAtMs.get(name.slice('on-'.length))!);
  waits.sort((a, b) => a - b);
  print(
    `evicted: ${waits.length} Pods, ${inSeconds(waits[0] ?? 0)} to ${inSeconds(waits.at(-1) ?? 0)} s after the taint ` +
      `(they tolerate it for ${tolerationSeconds} s)`,
  );
}

async function observe(server: Server, label: string, nodes: SimulatedNodes, lengthMs: number): Promise<void> {
  const [startedMs, before] = [performance.now(), cpuSeconds(server.pid)];
  await sleep(lengthMs);
  const share = (100_000 * (cpuSeconds(server.pid) - before)) / (performance.now() - startedMs);
  print(
    `${label} for ${inSeconds(lengthMs)} s: CPU ${share.toFixed(1)} % of a core, ${residentMiB(server.pid).toFixed(0)} MiB`,
  );
  print(`  ${nodes.takeLatency()}`);
}

async function run(directory: string, setting: Setting): Promise<void> {
  const server = await startOurs(directory, setting.store, undefined);
  const client = new Http2Client(server, 4);
  const names = Array.from({ length: setting.nodes }, (_, at) => `node-${at}`);
  const nodes = new SimulatedNodes(client, names, new Set(names.slice(0, setting.silent)));
  try {
    await nodes.join();
    print(`${names.length} nodes have joined`);
    nodes.renewAll();
    const consequences = new Consequences(client, nodes);
    await observe(server, 'all nodes renew their Leases', nodes, setting.seconds * 1000);
    nodes.silence();
    await observe(server, `${nodes.silent.size} nodes are silent`, nodes, setting.after * 1000);
    report(consequences, nodes);
  } finally {
    nodes.stop();
    client.close();
    await server.stop();
  }
}

async function main(words: readonly string[]): Promise<number> {
  const values = readOptions(words, {
    nodes: { type: 'string', default: '2000' },
    silent: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '60' },
    after: { type: 'string', default: '120' },
    store: { type: 'string', default: 'memory' },
  });
  const setting = {
    nodes: wholeNumberIn('nodes', values.nodes),
    silent: wholeNumberIn('silent', values.silent),
    seconds: numberIn('seconds', values.seconds),
    after: numberIn('after', values.after),
    store: nameIn(
      'store',
      values.store,
      stores.filter((name) => name !== 'etcd'),
    ),
  };
  const directory = await mkdtemp(join(tmpdir(), 'keelson-nodes-'));
  try {
    await run(directory, setting);
    return 0;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

asCommand(import.meta.url, { help, run: main, showsStack: true });
