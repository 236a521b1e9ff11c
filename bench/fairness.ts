import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { LoadJob } from './lib/generator-jobs.js';
import { measure, type Measured } from './lib/load-generator.js';
import { configMap } from './lib/objects.js';
import type { RequestShape } from './lib/requests.js';
import { startOurs, type Server } from './lib/servers.js';

/**
 * Latency of a client with one connection, alone and beside 200 connections of another user, with priority and fairness
 * and without: `node dist/bench/fairness.js --seconds 10`. The goal is a p99 of at most three times that of the quiet
 * server. Both clients have processes of their own; on a machine with two cores they also compete for these.
 */
const noisyConnections = 200;
const warmUpMs = 1500;
const maps = '/api/v1/namespaces/default/configmaps';
const listedMaps = 50;

const polite: RequestShape = { method: 'GET', path: `${maps}/map-0`, token: 'polite' };
const noisyRequests: Readonly<Record<string, RequestShape>> = {
  get: { method: 'GET', path: `${maps}/map-1`, token: 'noisy' },
  list: { method: 'GET', path: maps, token: 'noisy' },
};

function load(server: Server, request: RequestShape, connections: number, seconds: number): Promise<Measured> {
  const job: LoadJob = {
    ...{ type: 'load', target: server.target, warmUpMs, request, connections, seconds },
    ...{ requestsMax: Number.MAX_SAFE_INTEGER, from: 0 },
  };
  return measure(job, [server.pid]);
}

const print = (
  label: string,
  { p50Ms, p99Ms, perSecond, cpuMicrosPerUnit, failed }: Measured,
  quiet?: Measured,
): void => {
  const ratio = quiet ? `, ${(p99Ms / quiet.p99Ms).toFixed(1)} times the quiet p99` : '';
  const failures = failed > 0 ? `, ${failed} failed` : '';
  const figures = `p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms, ${perSecond.toFixed(0)}/s, ${cpuMicrosPerUnit.toFixed(0)} µs CPU`;
  process.stdout.write(`${label.padEnd(34)}${figures}${ratio}${failures}\n`);
};

async function run(directory: string, seconds: number, flags: readonly string[]): Promise<void> {
  const server = await startOurs(directory, 'memory', undefined, ['--authorization-mode=AlwaysAllow', ...flags]);
  try {
    for (let at = 0; at < listedMaps; at++) {
      const { code, text } = await server.call('POST', maps, configMap(`map-${at}`));
      if (code !== 201) throw new Error(`a ConfigMap was answered with ${code}: ${text}`);
    }
    const quiet = await load(server, polite, 1, seconds);
    print('polite alone', quiet);
    for (const [name, request] of Object.entries(noisyRequests)) {
      // The noisy load begins before the polite one and ends after it.
      const noisy = load(server, request, noisyConnections, seconds + 4);
      await new Promise((resolve) => setTimeout(resolve, 2000));
      print(`polite beside ${noisyConnections} noisy ${name}`, await load(server, polite, 1, seconds), quiet);
      print(`${noisyConnections} noisy ${name}`, await noisy);
    }
  } finally {
    await server.stop();
  }
}

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '5' } } });
const seconds = Number(values.seconds);
for (const flags of [['--enable-priority-and-fairness=true'], ['--enable-priority-and-fairness=false']]) {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-fairness-'));
  process.stdout.write(`${flags.join(' ')}\n`);
  try {
    await run(directory, seconds, flags);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
