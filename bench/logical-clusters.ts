import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asCommand } from '../scripts/as-command.js';
import { readOptions, wholeNumberIn } from '../scripts/read-options.js';
import { cpuSeconds, ownMiB } from './lib/process-figures.js';
import { must, startOurs, type Server } from './lib/servers.js';

const help = `node dist/bench/logical-clusters.js [options]

Creates logical clusters on an embedded store of the built server, writes an object into each, reads all of them,
kills the server by SIGKILL, starts it again and reads all of them once more. Prints memory, CPU time and latencies.

  --clusters N   the number of logical clusters; the default is 1000
  --awake N      the number of them that may be in memory (--logical-clusters-awake-max); the default is 100
  --requests N   reads of random clusters among those in memory; the default is 2000
  --help         prints this help`;

const group = '/apis/clusters.keelson.dev/v1alpha1/logicalclusters';
const maps = '/api/v1/namespaces/default/configmaps';
const nameOf = (index: number) => `team-${index}`;
const clusterObject = (name: string) =>
  JSON.stringify({ apiVersion: 'clusters.keelson.dev/v1alpha1', kind: 'LogicalCluster', metadata: { name } });
const configMap = (owner: string) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'own' }, data: { owner } });

interface Figures {
  readonly cpuMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Calls one after another, on one connection. `cpuMs` is the CPU time of the server per call. */
async function each(server: Server, count: number, call: (index: number) => Promise<unknown>): Promise<Figures> {
  const times: number[] = [];
  const beforeSeconds = cpuSeconds(server.pid);
  for (let index = 0; index < count; index++) {
    const beginMs = performance.now();
    await call(index);
    times.push(performance.now() - beginMs);
  }
  times.sort((one, other) => one - other);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]!;
  return { cpuMs: ((cpuSeconds(server.pid) - beforeSeconds) * 1000) / count, p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** Returns a function that sends requests on one connection. */
function connected({ target: { host, port, ca }, token }: Server) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });
  return (method: string, path: string, body = '') =>
    new Promise<string>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, ...(body !== '' && { 'content-type': 'application/json' }) };
      const sent = request({ host, port, method, path, headers, agent }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.once('end', () => {
          const text = Buffer.concat(parts).toString();
          const { statusCode = 0 } = response;
          if (statusCode < 300) resolve(text);
          else reject(new Error(`${method} ${path}: ${statusCode} ${text.slice(0, 300)}`));
        });
      });
      sent.once('error', reject);
      sent.end(body);
    });
}

function print(what: string, { cpuMs, p50Ms, p99Ms }: Figures, { pid }: Server): void {
  const ms = (value: number) => `${value.toFixed(1).padStart(7)} ms`;
  const memory = `${ownMiB(pid).toFixed(0).padStart(6)} MiB`;
  console.log(`${what.padEnd(44)} CPU ${ms(cpuMs)}   p50 ${ms(p50Ms)}   p99 ${ms(p99Ms)}   memory ${memory}`);
}

async function run(clusters: number, awake: number, requests: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'keelson-bench-clusters-'));
  const flags = ['--logical-clusters', `--logical-clusters-awake-max=${awake}`, '--logical-clusters-idle-timeout=1h'];
  let server = await startOurs(directory, 'embedded', undefined, flags);
  try {
    console.log(`${clusters} logical clusters, ${awake} in memory; started in ${server.startMs.toFixed(0)} ms`);
    let call = connected(server);
    const emptyMiB = ownMiB(server.pid);
    print('create', await each(server, clusters, (at) => call('POST', group, clusterObject(nameOf(at)))), server);
    const write = (at: number) => call('POST', `/clusters/${nameOf(at)}${maps}`, configMap(nameOf(at)));
    print('first request (writes the initial objects)', await each(server, clusters, write), server);
    const read = async (at: number) => {
      const text = await call('GET', `/clusters/${nameOf(at)}${maps}/own`);
      if (!text.includes(`"owner":"${nameOf(at)}"`)) throw new Error(`${nameOf(at)} has lost its object`);
    };
    print('request that wakes', await each(server, clusters, read), server);
    const warm = (at: number) => read(clusters - 1 - ((at * 7) % Math.min(awake, clusters)));
    print('request of a cluster in memory', await each(server, requests, warm), server);
    const root = () => call('GET', '/api/v1/namespaces/default');
    print('request of the root', await each(server, requests, root), server);
    const perAwake = (ownMiB(server.pid) - emptyMiB) / Math.min(awake, clusters);
    console.log(`memory for each cluster in memory, with all of its share of the others: ${perAwake.toFixed(2)} MiB`);
    process.kill(server.pid, 'SIGKILL');
    server = await startOurs(directory, 'embedded', undefined, flags);
    call = connected(server);
    console.log(`started in ${server.startMs.toFixed(0)} ms after SIGKILL`);
    print('all clusters, read once', await each(server, clusters, read), server);
    const left = JSON.parse(await must(server, 'GET', group)) as { items: unknown[] };
    console.log(`${left.items.length} logical clusters came back`);
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function main(words: readonly string[]): Promise<number> {
  const values = readOptions(words, {
    clusters: { type: 'string', default: '1000' },
    awake: { type: 'string', default: '100' },
    requests: { type: 'string', default: '2000' },
  });
  await run(
    wholeNumberIn('clusters', values.clusters),
    wholeNumberIn('awake', values.awake),
    wholeNumberIn('requests', values.requests),
  );
  return 0;
}

asCommand(import.meta.url, { help, run: main, showsStack: true });
