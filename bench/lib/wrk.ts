import { spawn, spawnSync } from 'node:child_process';
import type { LoadJob } from './generator-jobs.js';
import type { Measured } from './load-generator.js';
import { cpuSeconds } from './process-figures.js';

export const hasWrk = (): boolean => spawnSync('wrk', ['-v']).error === undefined;

/** Like measure() for reads, by wrk, which uses less CPU than our generator. */
export async function measureWithWrk(job: LoadJob, serverPid: number): Promise<Measured> {
  const { target, request, connections, seconds, warmUpMs } = job;
  const run = async (length: number) => {
    const words = [`-t1`, `-c${connections}`, `-d${length}s`, '--latency', '--timeout=60s'];
    const headers = [`Authorization: Bearer ${request.token}`, 'Accept: application/json'];
    const url = `https://${target.host}:${target.port}${request.path}`;
    const child = spawn('wrk', [...words, ...headers.flatMap((header) => ['-H', header]), url]);
    let text = '';
    child.stdout.on('data', (part: Buffer) => (text += String(part)));
    await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
    return text;
  };
  await run(Math.max(1, Math.round(warmUpMs / 1000)));
  const before = cpuSeconds(serverPid);
  const text = await run(Math.max(1, Math.round(seconds)));
  const server = cpuSeconds(serverPid) - before;
  const numberIn = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0);
  const [, requests = '0', took = '1'] = /(\d+) requests in ([\d.]+)s/.exec(text) ?? [];
  const count = Number(requests);
  const serverCores = server / Number(took);
  return {
    count,
    seconds: Number(took),
    failed: numberIn(/Non-2xx or 3xx responses: (\d+)/) + numberIn(/Socket errors: connect (\d+)/),
    p50Ms: millis(/50%\s+([\d.]+)(us|ms|s)/.exec(text)),
    p99Ms: millis(/99%\s+([\d.]+)(us|ms|s)/.exec(text)),
    next: 0,
    perSecond: count / Number(took),
    cpuMicrosPerUnit: (server * 1e6) / Math.max(1, count),
    serverCores,
    // wrk is a child process: its CPU time is part of the other programs'.
    generatorCores: NaN,
    otherCores: NaN,
  };
}

const unitsInMs: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000 };

function millis(match: RegExpExecArray | null): number {
  return match ? Number(match[1]) * (unitsInMs[match[2]!] ?? 1) : 0;
}
