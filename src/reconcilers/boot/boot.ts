import type { Clock, Timer } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';

export interface BootStep {
  /** The object in log lines: `services/default/kubernetes`. */
  readonly name: string;
  readonly run: () => Promise<void>;
}

interface BootOptions {
  readonly stages: readonly (() => readonly BootStep[])[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called once, when every step has succeeded. */
  readonly done: () => void;
}

const [retryMsMin, retryMsMax] = [1_000, 30_000];

/**
 * Runs the steps of a start. A step that fails is logged and retried until it succeeds, and does not affect the others:
 * the server serves even if an initial object cannot be written.
 */
export class Boot {
  private readonly failures = new Map<string, string>();
  private retryMs = retryMsMin;
  private timer: Timer | undefined;
  private isStopped = false;

  constructor(private readonly options: BootOptions) {}

  /** Resolves when every step has been tried once. */
  async start(): Promise<void> {
    const failed: BootStep[] = [];
    for (const steps of this.options.stages) failed.push(...(await this.tryStage(steps)));
    this.next(failed);
  }

  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
  }

  private async tryStage(steps: () => readonly BootStep[]): Promise<BootStep[]> {
    let stage: readonly BootStep[];
    try {
      stage = steps();
    } catch (error) {
      // The steps may be others at the next attempt.
      this.failed('a stage of the start', error);
      return [
        { name: 'a stage of the start', run: async () => void (await Promise.all(steps().map(({ run }) => run()))) },
      ];
    }
    return this.tryAll(stage);
  }

  private async tryAll(steps: readonly BootStep[]): Promise<BootStep[]> {
    const outcomes = await Promise.all(
      steps.map(async (step) => {
        try {
          await step.run();
          if (this.failures.delete(step.name))
            this.options.logger.info('wrote an initial object after earlier failures', { object: step.name });
          return [];
        } catch (error) {
          if (!this.isStopped) this.failed(step.name, error);
          return [step];
        }
      }),
    );
    return outcomes.flat();
  }

  private failed(name: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (this.failures.get(name) === reason) return;
    this.failures.set(name, reason);
    this.options.logger.warn('could not write an initial object; retrying, /readyz fails until it is written', {
      object: name,
      reason,
    });
  }

  private next(failed: readonly BootStep[]): void {
    if (this.isStopped) return;
    if (failed.length === 0) return this.options.done();
    this.timer = this.options.clock.after(this.retryMs, () => void this.tryAll(failed).then((left) => this.next(left)));
    this.retryMs = Math.min(this.retryMs * 2, retryMsMax);
  }
}
