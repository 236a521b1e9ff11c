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

interface Priority {
  /** The load runs only when another program leaves a core free. */
  readonly yieldsCores?: boolean;
  /** The load runs before other programs. */
  readonly precedes?: boolean;
}

/** A job in a process of its own, whose slices are measured by the CPU times of the processes before and after. */
class Load {
  private constructor(
    private readonly generator: ChildProcess,
    private readonly serverPids: readonly number[],
  ) {}

  /** Resolves when the connections are open and the server is warm. */
  static async start(
    job: LoadJob | FanOutJob,
    serverPids: readonly number[],
    { yieldsCores = false, precedes = false }: Priority = {},
  ): Promise<Load> {
    const generator = fork(fileURLToPath(new URL('./generator.js', import.meta.url)));
    if (yieldsCores) setPriority(generator.pid!, constants.priority.PRIORITY_LOW);
    if (precedes) precede(generator.pid!);
    const load = new Load(generator, serverPids);
    try {
      generator.send(job);
      await heard(generator, 'warm');
      return load;
    } catch (error) {
      load.stop();
      throw error;
    }
  }

  async slice(): Promise<Measured> {
    const before = this.clocks();
    this.generator.send({ type: 'go' });
    const { figures } = await heard(this.generator, 'done');
    const after = this.clocks();
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
  }

  stop(): void {
    this.generator.kill('SIGKILL');
  }

  private clocks() {
    return {
      server: this.serverPids.map(cpuSeconds).reduce((sum, seconds) => sum + seconds, 0),
      generator: cpuSeconds(this.generator.pid!),
      own: process.cpuUsage(),
      machine: busySeconds(),
    };
  }
}

/** Measures one slice of a job. */
export async function measure(
  job: LoadJob | FanOutJob,
  serverPids: readonly number[],
  priority: Priority = {},
): Promise<Measured> {
  const load = await Load.start(job, serverPids, priority);
  try {
    return await load.slice();
  } finally {
    load.stop();
  }
}

interface Side {
  readonly job: LoadJob | FanOutJob;
  readonly serverPids: readonly number[];
}

/**
 * Measures two jobs in turns, since the speed of a machine changes from second to second. Returns the slice of each with the
 * least `figure`, which other programs disturbed least, with the failures of all slices. A collection of V8's old generation,
 * one in several seconds, is in few slices, and may not be in the best one.
 */
export async function compare(
  sides: { readonly ours: Side; readonly bare: Side },
  rounds: number,
  figure: 'cpuMicrosPerUnit' | 'p99Ms' = 'cpuMicrosPerUnit',
): Promise<{ ours: Measured; bare: Measured }> {
  const ours = await Load.start(sides.ours.job, sides.ours.serverPids);
  let bare: Load | undefined;
  try {
    bare = await Load.start(sides.bare.job, sides.bare.serverPids);
    const slices = { ours: [] as Measured[], bare: [] as Measured[] };
    for (let round = 0; round < rounds; round++) {
      slices.ours.push(await ours.slice());
      slices.bare.push(await bare.slice());
    }
    const best = (measured: readonly Measured[]): Measured => {
      const [first] = [...measured].sort((a, b) => a[figure] - b[figure]);
      return { ...first!, failed: measured.reduce((sum, { failed }) => sum + failed, 0) };
    };
    return { ours: best(slices.ours), bare: best(slices.bare) };
  } finally {
    ours.stop();
    bare?.stop();
  }
}

type Heard<Type> = Extract<FromGenerator, { type: Type }>;

async function heard<Type extends FromGenerator['type']>(generator: ChildProcess, type: Type): Promise<Heard<Type>> {
  const listening = new AbortController();
  const { signal } = listening;
  const [message] = (await Promise.race([
    once(generator, 'message', { signal }),
    once(generator, 'exit', { signal }).then(() => [{ type: 'error', message: 'the load generator ended early' }]),
  ])) as [FromGenerator];
  listening.abort();
  if (message.type === 'error') throw new Error(message.message);
  if (message.type !== type) throw new Error(`the load generator sent ${message.type} instead of ${type}`);
  return message as Heard<Type>;
}

/** Lets a process run before all others that have no real-time priority, which needs root. */
export function precede(pid: number): void {
  const { status, error } = spawnSync('chrt', ['--all-tasks', '--fifo', '--pid', '1', String(pid)]);
  if (status !== 0) throw new Error(`chrt failed: ${error?.message ?? `code ${status}`}`);
}
