import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { asCommand, print } from '../scripts/as-command.js';
import { nameIn, numberIn, readOptions, wholeNumberIn } from '../scripts/read-options.js';
import type { FanOutJob, LoadJob } from './lib/generator-jobs.js';
import { measure, type Measured } from './lib/load-generator.js';
import { configMap, namespace, pod } from './lib/objects.js';
import { processesOf, residentMiB } from './lib/process-figures.js';
import type { RequestShape } from './lib/requests.js';
import { startEtcd, startOurs, stores, type Server, type StoreName } from './lib/servers.js';

const help = `node dist/bench/workers.js [options]

Puts the same loads, in turns, on a server of one process and on servers of several. The client runs on the same machine, so
that two processes share what it leaves of the cores: compare the CPU time of all processes of a server, of which each line
is the least of all rounds. Takes three minutes, and needs Linux.

  --workers N,…     numbers of processes; the default is 1,2
  --store NAME      memory (the default), embedded or etcd
  --seconds N       duration of each load; the default is 4
  --rounds N        rounds; the default is 3
  --only TEXT       runs only the loads whose name contains the text
  --help            prints this help`;

const warmUpMs = 1500;
const connections = 32;
const watchers = 1000;
const listedPods = 2000;

interface Load {
  readonly label: string;
  job(server: Server, seconds: number, round: number): Promise<LoadJob | FanOutJob>;
}

const maps = '/api/v1/namespaces/bench/configmaps';

const load = (label: string, request: Omit<RequestShape, 'token'>, more: Partial<LoadJob> = {}): Load => ({
  label,
  job: async ({ target, token }, seconds, round) => ({
    ...{ type: 'load', target, warmUpMs, connections, seconds, requestsMax: Number.MAX_SAFE_INTEGER },
    ...{ request: { ...request, token }, from: round * 1e7 },
    ...more,
  }),
});

const loads: readonly Load[] = [
  load('GET', { method: 'GET', path: `${maps}/small` }),
  load('GET, any version', { method: 'GET', path: `${maps}/small?resourceVersion=0` }),
  load('create', { method: 'POST', path: maps, body: configMap('made-@@@@@@@@') }),
  load(`LIST ${listedPods} Pods`, { method: 'GET', path: '/api/v1/namespaces/listed/pods' }, { connections: 4 }),
  {
    label: `event to ${watchers} watchers`,
    async job({ target, token, call }, seconds) {
      const { metadata } = JSON.parse((await call('GET', `${maps}?limit=1`)).text) as {
        metadata: { resourceVersion: string };
      };
      const since = `resourceVersion=${metadata.resourceVersion}`;
      return {
        ...{ type: 'fan-out', target, warmUpMs, watchers, seconds },
        watch: { method: 'GET', path: `${maps}?watch=1&fieldSelector=metadata.name=changed&${since}`, token },
        writes: [{ method: 'PUT', path: `${maps}/changed`, body: configMap('changed'), token }],
      };
    },
  },
];

async function must(server: Server, method: string, path: string, body?: string): Promise<void> {
  const { code, text } = await server.call(method, path, body);
  if (code >= 300) throw new Error(`${method} ${path}: ${code} ${text.slice(0, 300)}`);
}

async function start(directory: string, workers: string, store: StoreName, etcdUrl?: string): Promise<Server> {
  const own = etcdUrl === undefined ? [] : [`--etcd-prefix=/workers-${workers}`];
  const server = await startOurs(join(directory, workers), store, etcdUrl, [`--workers=${workers}`, ...own]);
  const isComplete = () => processesOf(server.pid).length === Number(workers);
  for (let attempt = 0; attempt < 100 && !isComplete(); attempt++) await sleep(100);
  // The workers load what the store has.
  await sleep(3000);
  for (const name of ['bench', 'listed']) await must(server, 'POST', '/api/v1/namespaces', namespace(name));
  for (const name of ['small', 'changed']) await must(server, 'POST', maps, configMap(name, '00000000'));
  const { target, token } = server;
  const request = { method: 'POST', path: '/api/v1/namespaces/listed/pods', body: pod, token };
  const job: LoadJob = {
    ...{ type: 'load', target, warmUpMs: 0, connections, seconds: 100, requestsMax: listedPods, request, from: 0 },
  };
  await measure(job, [server.pid]);
  return server;
}

const least = (rounds: readonly Measured[]): Measured =>
  [...rounds].sort((one, other) => one.cpuMicrosPerUnit - other.cpuMicrosPerUnit)[0]!;

function printLeast(label: string, workers: string, rounds: readonly Measured[]): void {
  const { cpuMicrosPerUnit, p99Ms, failed } = least(rounds);
  const best = [...rounds].sort((one, other) => other.perSecond - one.perSecond)[0]!;
  const { perSecond, serverCores, generatorCores, otherCores } = best;
  const failures = failed > 0 ? `, ${failed} failed` : '';
  const cores = `cores: server ${serverCores.toFixed(2)}, client ${generatorCores.toFixed(2)}, others ${otherCores.toFixed(2)}`;
  print(
    `${label.padEnd(26)}${workers} processes: ${cpuMicrosPerUnit.toFixed(1).padStart(9)} µs CPU, ${perSecond.toFixed(0).padStart(7)}/s, p99 ${p99Ms.toFixed(1)} ms; ${cores}${failures}`,
  );
}

async function main(words: readonly string[]): Promise<number> {
  const values = readOptions(words, {
    workers: { type: 'string', default: '1,2' },
    store: { type: 'string', default: 'memory' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
  });
  const store = nameIn('store', values.store, stores);
  const [seconds, rounds] = [numberIn('seconds', values.seconds), wholeNumberIn('rounds', values.rounds)];
  const directory = await mkdtemp(join(tmpdir(), 'keelson-workers-'));
  const etcd = store === 'etcd' ? await startEtcd(join(directory, 'etcd')) : undefined;
  const servers = new Map<string, Server>();
  try {
    for (const workers of values.workers.split(',')) {
      servers.set(workers, await start(directory, workers, store, etcd?.url));
    }
    for (const { label, job } of loads.filter((one) => one.label.includes(values.only))) {
      const measured = new Map<string, Measured[]>([...servers.keys()].map((workers) => [workers, []]));
      for (let round = 0; round < rounds; round++) {
        for (const [workers, server] of servers) {
          measured.get(workers)!.push(await measure(await job(server, seconds, round), processesOf(server.pid)));
        }
      }
      for (const [workers, figures] of measured) printLeast(label, workers, figures);
    }
    for (const [workers, server] of servers) {
      const sizes = processesOf(server.pid).map((pid) => residentMiB(pid).toFixed(0));
      print(`memory, ${workers} processes: ${sizes.join(' + ')} MiB`);
    }
  } finally {
    for (const server of servers.values()) await server.stop();
    await etcd?.stop();
    await rm(directory, { recursive: true, force: true });
  }
  return 0;
}

asCommand(import.meta.url, { help, run: main, showsStack: true });
