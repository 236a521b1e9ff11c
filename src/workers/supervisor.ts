import { sleep, type Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import { WorkerProcess, type WorkerEnd } from './worker-process.js';
import type { StartMessage } from './worker-messages.js';

interface Options {
  /** Number of workers. */
  readonly count: number;
  /** File of the program. */
  readonly program: string;
  /** Returns the first message to a worker. */
  readonly startMessage: (index: number) => Promise<StartMessage>;
  /** Answers calls of the worker. */
  readonly attach: (worker: WorkerProcess) => void;
  /** Gets each line of the log of a worker. */
  readonly print: (line: string) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The delay before a worker is replaced doubles between these two, and begins anew after it has run for a while. */
const delayMsMin = 100;
const delayMsMax = 30_000;
const steadyMs = 60_000;

/** Keeps the workers running: one that ends is logged and replaced. */
export class Supervisor {
  private readonly running = new Map<number, WorkerProcess>();
  private readonly stopping = new AbortController();
  private readonly loops: Promise<void>[] = [];

  constructor(private readonly options: Options) {}

  get all(): readonly WorkerProcess[] {
    return [...this.running.values()];
  }

  get ready(): readonly WorkerProcess[] {
    return this.all.filter(({ isReady }) => isReady);
  }

  start(): void {
    for (let index = 1; index <= this.options.count; index++) this.loops.push(this.keep(index));
  }

  /** Stops all workers; resolves when they have ended. */
  async stop(timeoutMs: number): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.all.map((worker) => worker.stop(timeoutMs)));
    await Promise.all(this.loops);
  }

  private async keep(index: number): Promise<void> {
    const { clock, logger } = this.options;
    const { signal } = this.stopping;
    for (let delayMs = delayMsMin; !signal.aborted; delayMs = Math.min(delayMs * 2, delayMsMax)) {
      const startedMs = clock.monotonicMs();
      const end = await this.run(index);
      if (signal.aborted) return;
      const ranMs = clock.monotonicMs() - startedMs;
      if (ranMs >= steadyMs) delayMs = delayMsMin;
      logger.error('a worker process has ended; starting another', {
        ...{ worker: index, pid: end.pid, code: end.code, signal: end.signal, why: reasonOf(end) },
        ...{ ranSeconds: Math.round(ranMs / 1000), retryInMs: delayMs },
      });
      await sleep(clock, delayMs, signal).catch(() => undefined);
    }
  }

  private async run(index: number): Promise<WorkerEnd & { readonly pid: number | undefined }> {
    const { program, clock, attach, print, startMessage } = this.options;
    const worker = new WorkerProcess(index, program, clock, print);
    this.running.set(index, worker);
    attach(worker);
    worker.start(await startMessage(index));
    const end = await worker.ended;
    this.running.delete(index);
    return { pid: worker.pid, ...end };
  }
}

/** Returns what the end of a process usually means. */
function reasonOf({ code, signal, wasStuck }: WorkerEnd): string {
  if (wasStuck) return 'killed because it did not report for a minute: it was stopped, or its event loop was blocked';
  if (signal === 'SIGKILL') return 'killed, by a user or by the kernel when memory was short';
  if (signal === 'SIGABRT' || code === 134)
    return 'out of memory, or a fatal error of the runtime; see the lines before';
  if (signal !== null) return `ended by ${signal}`;
  return code === 1 ? 'an error that the lines before describe' : `exited with code ${code}`;
}
