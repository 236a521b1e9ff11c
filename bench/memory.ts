import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { asCommand, print } from '../scripts/as-command.js';
import { nameIn, numberIn, readOptions, wholeNumberIn } from '../scripts/read-options.js';
import { Http2Client, type Answer } from './lib/http2-client.js';
import type { ProbedMemory } from './lib/memory-probe.js';
import { namespaceOfPod, podsPerNamespace, usualPod } from './lib/objects.js';
import { cpuSeconds, processesOf, residenceOf } from './lib/process-figures.js';
import { startEtcd, startOurs, stores, type Server } from './lib/servers.js';

const help = `node dist/bench/memory.js [options]

Starts the built server, creates Pods of about 3.2 KB in namespaces of ${podsPerNamespace}, and prints its memory: resident
(RSS), of that anonymous and of files, and what V8 knows of it after a collection of garbage. Then it does so again
after lists of all Pods, after writes, after the history has aged, and after a restart. Also prints the pauses of the
garbage collector during the writes, and the time of the restart. The target is 1.35 times the JSON, plus 100 MiB.

  --pods N          Pods to create; the default is 10000
  --store NAME      embedded (the default), memory or etcd
  --workers N       processes of the server; the own memory of the others is the last column
  --lists N         lists of all Pods, JSON and protobuf by turns; the default is 4
  --writes N        updates a second; the default is 500
  --seconds N       duration of the writes; the default is 30
  --rest N          seconds after the writes; the default is 90, after which the history has aged
  --node-flags F    flags of Node for the server, separated by commas
  --directory D     keeps the store in this directory, and uses the Pods that it has
  --json            prints the figures as JSON
  --help            prints this help`;

const mebibyte = 1024 * 1024;
const inParallel = 32;
const pagePods = 500;
const allPods = '/api/v1/pods';

interface Figures {
  readonly when: string;
  readonly rss: number;
  readonly anonymous: number;
  readonly file: number;
  readonly heapUsed: number;
  readonly heapTotal: number;
  readonly arrayBuffers: number;
  readonly cpuSeconds: number;
}

const mib = (bytes: number): string => (bytes / mebibyte).toFixed(0);
const columns = (cells: readonly string[]): string =>
  (cells[0] ?? '').padEnd(22) +
  cells
    .slice(1)
    .map((cell) => cell.padStart(11))
    .join('');
/** Returns the value below which `share` of the sorted values lie. */
const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

class Measurement {
  readonly figures: Figures[] = [];
  jsonBytes = 0;

  constructor(
    private readonly pods: number,
    private readonly isQuiet: boolean,
  ) {
    this.print(['', 'RSS', 'anonymous', 'files', 'heap', 'heap held', 'buffers', 'over JSON', 'B a Pod']);
  }

  async take(when: string, server: Server): Promise<ProbedMemory> {
    // Twice: pages are given back after the collection that the first answer waits for.
    const { pausesMs } = (await server.ask({ collects: false })) as ProbedMemory;
    const before = residenceOf(server.pid).rss;
    const probed = (await server.ask({ collects: true })) as ProbedMemory;
    await sleep(500);
    const residence = residenceOf(server.pid);
    const { heapUsed, heapTotal, arrayBuffers } = probed;
    this.figures.push({ when, ...residence, heapUsed, heapTotal, arrayBuffers, cpuSeconds: cpuSeconds(server.pid) });
    const idle = this.figures[0]!.rss;
    this.print([
      when,
      ...[residence.rss, residence.anonymous, residence.file, heapUsed, heapTotal, arrayBuffers].map(mib),
      this.jsonBytes > 0 ? `${((residence.rss - 100 * mebibyte) / this.jsonBytes).toFixed(2)} x` : '',
      ((residence.rss - idle) / this.pods).toFixed(0),
      `(${mib(before)} before a collection)${ofWorkers(server)}`,
    ]);
    return { ...probed, pausesMs };
  }

  print(cells: readonly string[]): void {
    if (!this.isQuiet) print(columns(cells));
  }
}

/** The own memory of each process but the first. */
function ofWorkers({ pid }: Server): string {
  const [, ...workers] = processesOf(pid);
  return workers.map((worker) => `, worker ${mib(residenceOf(worker).anonymous)}`).join('');
}

async function inTurns(count: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: inParallel }, worker));
}

async function expected(asked: Promise<Answer>): Promise<Answer> {
  const answer = await asked;
  if (answer.code >= 300 && answer.code !== 409) {
    throw new Error(`answered with ${answer.code}: ${answer.text.slice(0, 300)}`);
  }
  return answer;
}

async function fill(client: Http2Client, pods: number): Promise<void> {
  const { text } = await expected(client.call('GET', `${allPods}?limit=1`));
  if (text.includes('"items":[{')) return;
  const namespaces = Math.ceil(pods / podsPerNamespace);
  const metadataOf = (number: number) => ({ metadata: { name: namespaceOfPod(number * podsPerNamespace) } });
  await inTurns(namespaces, async (number) => {
    await expected(client.call('POST', '/api/v1/namespaces', metadataOf(number)));
  });
  await inTurns(pods, async (number) => {
    await expected(client.call('POST', `/api/v1/namespaces/${namespaceOfPod(number)}/pods`, usualPod(number)));
  });
}

/** Updates Pods at a fixed rate. Returns the number of updates that were refused or failed. */
async function write(client: Http2Client, pods: number, perSecond: number, seconds: number): Promise<number> {
  const startedMs = performance.now();
  let failed = 0;
  await inTurns(perSecond * seconds, async (number) => {
    const dueMs = startedMs + (number * 1000) / perSecond;
    await sleep(Math.max(0, dueMs - performance.now()));
    const chosen = (number * 7919) % pods;
    const name = (usualPod(chosen) as { metadata: { name: string } }).metadata.name;
    const change = { metadata: { annotations: { written: `${new Date().toISOString()} ${number}` } } };
    const path = `/api/v1/namespaces/${namespaceOfPod(chosen)}/pods/${name}`;
    const { code } = await client.call('PATCH', path, change, 'application/merge-patch+json');
    if (code !== 200) failed++;
  });
  return failed;
}

function pausesOf(pausesMs: readonly number[]): Record<string, number> {
  const sorted = [...pausesMs].sort((a, b) => a - b);
  return { count: sorted.length, p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), max: sorted.at(-1) ?? 0 };
}

async function main(words: readonly string[]): Promise<number> {
  const values = readOptions(words, {
    pods: { type: 'string', default: '10000' },
    store: { type: 'string', default: 'embedded' },
    workers: { type: 'string', default: '1' },
    lists: { type: 'string', default: '4' },
    writes: { type: 'string', default: '500' },
    seconds: { type: 'string', default: '30' },
    rest: { type: 'string', default: '90' },
    'node-flags': { type: 'string', default: '' },
    directory: { type: 'string' },
    json: { type: 'boolean', default: false },
  });
  const store = nameIn('store', values.store, stores);
  const pods = wholeNumberIn('pods', values.pods);
  const lists = wholeNumberIn('lists', values.lists);
  const writes = wholeNumberIn('writes', values.writes);
  const [seconds, rest] = [numberIn('seconds', values.seconds), numberIn('rest', values.rest)];
  const directory = values.directory ?? mkdtempSync(join(tmpdir(), 'keelson-memory-'));
  const etcd = store === 'etcd' ? await startEtcd(join(directory, 'etcd')) : undefined;
  const probe = fileURLToPath(new URL('./lib/memory-probe.js', import.meta.url));
  const nodeFlags = [
    '--expose-gc',
    `--import=${probe}`,
    ...values['node-flags'].split(',').filter((flag) => flag !== ''),
  ];
  const start = () =>
    startOurs(join(directory, 'server'), store, etcd?.url, [`--workers=${values.workers}`], nodeFlags);
  let server = await start();
  let client = new Http2Client(server, 4);
  try {
    if (!values.json) print(`${pods} Pods on ${store}, ${availableParallelism()} cores, Node ${process.version}`);
    const measurement = new Measurement(pods, values.json);
    await sleep(1000);
    await measurement.take('idle', server);
    const fillStartMs = performance.now();
    await fill(client, pods);
    const fillSeconds = (performance.now() - fillStartMs) / 1000;
    measurement.jsonBytes = (await jsonBytesOfPod(client)) * pods;
    await measurement.take('filled', server);
    for (let number = 0; number < lists; number++) {
      await listed(client, number % 2 === 0 ? 'application/json' : 'application/vnd.kubernetes.protobuf');
    }
    await measurement.take('after lists', server);
    const failed = await write(client, pods, writes, seconds);
    const { pausesMs } = await measurement.take('after writes', server);
    const pauses = pausesOf(pausesMs);
    if (rest > 0) {
      await sleep(rest * 1000);
      await measurement.take(`after ${rest} s of rest`, server);
    }
    client.close();
    let restartMs: number | undefined;
    if (store !== 'memory') {
      await server.stop();
      server = await start();
      restartMs = server.startMs;
      client = new Http2Client(server, 4);
      await sleep(1000);
      await measurement.take('after a restart', server);
    }
    const { figures, jsonBytes } = measurement;
    if (values.json) {
      print(JSON.stringify({ pods, store, jsonBytes, figures, pauses, failed, restartMs }, null, 2));
      return 0;
    }
    print(
      `\nJSON ${mib(jsonBytes)} MiB, ${(jsonBytes / pods).toFixed(0)} B a Pod; filled in ${fillSeconds.toFixed(0)} s`,
    );
    print(`target ${mib(jsonBytes * 1.35 + 100 * mebibyte)} MiB resident`);
    const [p50, p99, max] = ['p50', 'p99', 'max'].map((name) => pauses[name]!.toFixed(1));
    print(
      `garbage collection during ${writes} writes/s: ${pauses['count']} pauses, p50 ${p50}, p99 ${p99}, max ${max} ms; ${failed} writes failed`,
    );
    if (restartMs !== undefined) print(`ready ${restartMs.toFixed(0)} ms after the restart`);
    return 0;
  } finally {
    client.close();
    await server.stop();
    await etcd?.stop();
    if (values.directory === undefined) rmSync(directory, { recursive: true, force: true });
  }
}

/** Returns the average JSON of a Pod, without a list of all Pods, which would bring them into memory. */
async function jsonBytesOfPod(client: Http2Client): Promise<number> {
  const { body, text } = await expected(client.call('GET', `${allPods}?limit=${pagePods}`));
  return body.length / (JSON.parse(text) as { items: unknown[] }).items.length;
}

const listed = (client: Http2Client, accept?: string): Promise<Answer> =>
  expected(client.call('GET', allPods, undefined, undefined, accept));

asCommand(import.meta.url, { help, run: main, showsStack: true });
