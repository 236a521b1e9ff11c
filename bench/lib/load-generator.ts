import { fork, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { FanOutJob, Figures, FromGenerator, LoadJob } from './generator-jobs.js';
import { busySeconds, cpuSeconds } from './process-figures.js';

export interface Measured extends Figures {
  readonly perSecond: number;
  readonly cpuMicrosPerUnit: number;
  /** Cores used by the measured server, by the generator, and by all other programs. */
  readonly serverCores: number;
  readonly generatorCores: number;
  readonly otherCores: number;
}

/**
 * Runs a job in a process of its own, and reads the CPU times of the processes around the measured part. With
 * `yieldsCores` that process runs only when another program leaves a core free; with `precedes` it runs before others.
 */
export async function measure(
  job: LoadJob | FanOutJob,
  serverPids: readonly number[],
  { yieldsCores = false, precedes = false } = {},
): Promise<Measured> {
  const generator = fork(fileURLToPath(new URL('./generator.js', import.meta.url)));
  if (yieldsCores) setPriority(generator.pid!, constants.priority.PRIORITY_LOW);
  if (precedes) precede(generator.pid!);
  try {
    const clocks = () => ({
      server: serverPids.map(cpuSeconds).reduce((sum, seconds) => sum + seconds, 0),
      generator: cpuSeconds(generator.pid!),
      own: process.cpuUsage(),
      machine: busySeconds(),
    });
    generator.send(job);
    await heard(generator, 'warm');
    const before = clocks();
    generator.send({ type: 'go' });
    const { figures } = await heard(generator, 'done');
    const after = clocks();
    const { seconds, count } = figures;
    const server = after.server - before.server;
    const generated = after.generator - before.generator;
    const own = (after.own.user + after.own.system - before.own.user - before.own.system) / 1e6;
    return {
      ...figures,
      perSecond: count / seconds,
      cpuMicrosPerUnit: (server * 1e6) / Math.max(1, count),
      serverCores: server / seconds,
      generatorCores: generated / seconds,
      otherCores: Math.max(0, (after.machine - before.machine - server - generated - own) / seconds),
    };
  } finally {
    generator.kill('SIGKILL');
  }
}

type Heard<Type> = Extract<FromGenerator, { type: Type }>;

async function heard<Type extends FromGenerator['type']>(generator: ChildProcess, type: Type): Promise<Heard<Type>> {
  const [message] = (await Promise.race([
    once(generator, 'message'),
    once(generator, 'exit').then(() => [{ type: 'error', message: 'the load generator ended early' }]),
  ])) as [FromGenerator];
  if (message.type === 'error') throw new Error(message.message);
  if (message.type !== type) throw new Error(`the load generator sent ${message.type} instead of ${type}`);
  return message as Heard<Type>;
}

/** Lets a process run before all others that have no real-time priority, which needs root. */
export function precede(pid: number): void {
  const { status, error } = spawnSync('chrt', ['--all-tasks', '--fifo', '--pid', '1', String(pid)]);
  if (status !== 0) throw new Error(`chrt failed: ${error?.message ?? `code ${status}`}`);
}
