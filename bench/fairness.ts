import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asCommand, print } from '../scripts/as-command.js';
import { nameIn, namesIn, numberIn, readOptions, wholeNumberIn } from '../scripts/read-options.js';
import type { LoadJob } from './lib/generator-jobs.js';
import { measure, precede, type Measured } from './lib/load-generator.js';
import { configMap, namespace } from './lib/objects.js';
import { counterMark, type RequestShape } from './lib/requests.js';
import { startBare, startOurs, stores, type Server, type StoreName } from './lib/servers.js';

const help = `node dist/bench/fairness.js [options]

Measures the latency of a client with one connection, alone and beside 200 connections of another user, with priority and
fairness and without. The goal is a p99 of at most three times that of the quiet server. Both clients have processes of
their own; the noisy one leaves the cores to the others. The same loads are answered by a bare Node server with the same
bytes, in the order of their arrival: what the clients and the event loop cost without Keelson. The server's part of the
latency is that of its metrics.

  --seconds N          duration of each load; the default is 5
  --store NAME         memory (the default) or embedded
  --polite NAME,…      requests of the client with one connection: get (the default), create, list
  --noisy-sessions N   the other user's client sends 200 requests at a time over N HTTP/2 sessions; 0, the default: over
                       HTTP/1.1
  --apart              the server and the client with one connection do not wait for the other user's client at all, as if
                       it ran on another machine; needs root
  --help               prints this help`;

const noisyConnections = 200;
const warmUpMs = 1500;
const maps = '/api/v1/namespaces/default/configmaps';
const listedMaps = 50;
const others = '/api/v1/namespaces/others/configmaps';
const othersListed = 500;

interface Setting {
  readonly seconds: number;
  readonly isApart: boolean;
  /** HTTP/2 sessions that the noisy client's requests share; 0: it uses HTTP/1.1. */
  readonly noisySessions: number;
}

interface Requests {
  readonly polite: Readonly<Record<string, RequestShape>>;
  readonly noisy: Readonly<Record<string, RequestShape>>;
}

const ours: Requests = {
  polite: {
    get: { method: 'GET', path: `${maps}/map-0`, token: 'polite' },
    create: {
      method: 'POST',
      path: '/api/v1/namespaces/created/configmaps',
      token: 'polite',
      body: configMap(`created-${counterMark}`),
    },
    list: { method: 'GET', path: others, token: 'polite' },
  },
  noisy: {
    get: { method: 'GET', path: `${maps}/map-1`, token: 'noisy' },
    list: { method: 'GET', path: maps, token: 'noisy' },
  },
};

/** First number of the names that the next load creates. */
let nextName = 0;

async function load(
  server: Server,
  request: RequestShape,
  connections: number,
  { seconds, isApart, noisySessions }: Setting,
): Promise<Measured> {
  const job: LoadJob = {
    ...{ type: 'load', target: server.target, warmUpMs, request, connections, seconds },
    ...{ requestsMax: Number.MAX_SAFE_INTEGER, from: request.method === 'POST' ? nextName : 0 },
    ...(connections === noisyConnections && noisySessions > 0 && { http2Sessions: noisySessions }),
  };
  const isNoisy = connections === noisyConnections;
  const measured = await measure(job, [server.pid], { yieldsCores: isNoisy, precedes: isApart && !isNoisy });
  if (request.method === 'POST') nextName = measured.next;
  return measured;
}

function printLoad(
  label: string,
  { p50Ms, p99Ms, perSecond, cpuMicrosPerUnit, failed }: Measured,
  quiet?: Measured,
): void {
  const ratio = quiet ? `, ${(p99Ms / quiet.p99Ms).toFixed(1)} times the quiet p99` : '';
  const failures = failed > 0 ? `, ${failed} failed` : '';
  const figures = `p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms, ${perSecond.toFixed(0)}/s, ${cpuMicrosPerUnit.toFixed(0)} µs CPU`;
  print(`${label.padEnd(40)}${figures}${ratio}${failures}`);
}

const schema = 'polite';
const flowSchema = {
  metadata: { name: schema },
  spec: {
    matchingPrecedence: 9000,
    priorityLevelConfiguration: { name: 'global-default' },
    distinguisherMethod: { type: 'ByUser' },
    rules: [
      {
        subjects: [{ kind: 'User', user: { name: 'polite' } }],
        resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }],
      },
    ],
  },
};

/** Sums of the seconds that requests of the polite client have waited and executed, and their number. */
async function serverTimes(server: Server): Promise<{ wait: number; execution: number; count: number }> {
  const { text } = await server.call('GET', '/metrics');
  const valueOf = (metric: string) => {
    const lines = text.split('\n').filter((line) => line.startsWith(`apiserver_flowcontrol_${metric}{`));
    const own = lines.filter((line) => line.includes(`flow_schema="${schema}"`) && !line.includes('execute="false"'));
    return own.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  };
  return {
    wait: valueOf('request_wait_duration_seconds_sum'),
    execution: valueOf('request_execution_seconds_sum'),
    count: valueOf('request_wait_duration_seconds_count'),
  };
}

/** Measures the polite client alone and beside each of the noisy loads. */
async function compare(server: Server, requests: Requests, setting: Setting, hasMetrics: boolean): Promise<void> {
  for (const [kind, polite] of Object.entries(requests.polite)) {
    const quiet = await load(server, polite, 1, setting);
    printLoad(`polite ${kind} alone`, quiet);
    for (const [name, request] of Object.entries(requests.noisy)) {
      // The noisy load begins before the polite one and ends after it.
      const noisy = load(server, request, noisyConnections, { ...setting, seconds: setting.seconds + 4 });
      await new Promise((resolve) => setTimeout(resolve, 2000));
      const before = hasMetrics ? await serverTimes(server) : undefined;
      const label = `polite ${kind} beside ${noisyConnections} noisy ${name}`;
      printLoad(label, await load(server, polite, 1, setting), quiet);
      if (before) printServerTimes(before, await serverTimes(server));
      printLoad(`${noisyConnections} noisy ${name}`, await noisy);
    }
  }
}

type Times = Awaited<ReturnType<typeof serverTimes>>;

function printServerTimes(before: Times, after: Times): void {
  const count = Math.max(1, after.count - before.count);
  const mean = (seconds: number) => `${((seconds * 1000) / count).toFixed(2)} ms`;
  const wait = mean(after.wait - before.wait);
  const execution = mean(after.execution - before.execution);
  print(`${'  on the server'.padEnd(40)}mean wait ${wait}, mean execution ${execution}`);
}

async function run(
  directory: string,
  { store, kinds }: { store: StoreName; kinds: readonly string[] },
  setting: Setting,
  hasMetrics: boolean,
): Promise<void> {
  const flags = ['--authorization-mode=AlwaysAllow', `--enable-priority-and-fairness=${hasMetrics}`];
  const server = await startOurs(directory, store, undefined, flags);
  try {
    if (setting.isApart) precede(server.pid);
    for (let at = 0; at < listedMaps; at++) await created(server, maps, configMap(`map-${at}`));
    if (hasMetrics) {
      await created(server, '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas', JSON.stringify(flowSchema));
    }
    for (const name of ['created', 'others']) await created(server, '/api/v1/namespaces', namespace(name));
    for (let at = 0; at < othersListed; at++) await created(server, others, configMap(`map-${at}`));
    const polite = Object.fromEntries(Object.entries(ours.polite).filter(([kind]) => kinds.includes(kind)));
    await compare(server, { ...ours, polite }, setting, hasMetrics);
    if (hasMetrics) await compareBare(directory, server, setting);
  } finally {
    await server.stop();
  }
}

async function created(server: Server, path: string, body: string): Promise<void> {
  const { code, text } = await server.call('POST', path, body);
  if (code !== 201) throw new Error(`${path} was answered with ${code}: ${text}`);
}

/** Measures a bare Node server that answers with the same bytes. */
async function compareBare(directory: string, server: Server, setting: Setting): Promise<void> {
  const bare = await startBare(directory);
  try {
    print('bare Node server');
    await bare.call('PUT', '/body/get', (await server.call('GET', `${maps}/map-0`)).text);
    await bare.call('PUT', '/body/list', (await server.call('GET', maps)).text);
    const at = (path: string) => ({ method: 'GET', path, token: '' });
    const noisy = { get: at('/body/get'), list: at('/body/list') };
    await compare(bare, { polite: { get: at('/body/get') }, noisy }, setting, false);
  } finally {
    await bare.stop();
  }
}

async function main(words: readonly string[]): Promise<number> {
  const values = readOptions(words, {
    seconds: { type: 'string', default: '5' },
    store: { type: 'string', default: 'memory' },
    polite: { type: 'string', default: 'get' },
    apart: { type: 'boolean', default: false },
    'noisy-sessions': { type: 'string', default: '0' },
  });
  const setting = {
    seconds: numberIn('seconds', values.seconds),
    isApart: values.apart,
    noisySessions: wholeNumberIn('noisy-sessions', values['noisy-sessions']),
  };
  const load = {
    store: nameIn(
      'store',
      values.store,
      stores.filter((name) => name !== 'etcd'),
    ),
    kinds: namesIn('polite', values.polite, Object.keys(ours.polite)),
  };
  for (const isFair of [true, false]) {
    const directory = await mkdtemp(join(tmpdir(), 'keelson-fairness-'));
    print(isFair ? 'with priority and fairness' : 'without priority and fairness');
    try {
      await run(directory, load, setting, isFair);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }
  return 0;
}

asCommand(import.meta.url, { help, run: main, showsStack: true });
