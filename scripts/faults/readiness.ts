import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpApi } from '../simulation/http-api.js';

const intervalMs = 250;

/** Probes /readyz of a server as a load balancer does, and measures how soon it tells of an outage and of its end. */
export class ReadinessProbes {
  /** The slowest answer of the truth, of all outages and recoveries. */
  slowestFailureMs = 0;
  slowestRecoveryMs = 0;
  private last: { readonly isReady: boolean; readonly sentMs: number; readonly answeredMs: number } | undefined;
  private isStopped = false;
  private readonly hasEnded: Promise<void>;

  constructor(private readonly api: HttpApi) {
    this.hasEnded = this.run();
  }

  /** Waits for the first failure since `sinceMs`, at most `limitMs`. Returns false if there is none. */
  async fails(sinceMs: number, limitMs: number): Promise<boolean> {
    const ms = await this.answers(false, sinceMs, limitMs);
    this.slowestFailureMs = Math.max(this.slowestFailureMs, ms ?? limitMs);
    return ms !== undefined;
  }

  async recovers(sinceMs: number, limitMs: number): Promise<boolean> {
    const ms = await this.answers(true, sinceMs, limitMs);
    this.slowestRecoveryMs = Math.max(this.slowestRecoveryMs, ms ?? limitMs);
    return ms !== undefined;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.hasEnded;
  }

  private async answers(isReady: boolean, sinceMs: number, limitMs: number): Promise<number | undefined> {
    while (performance.now() < sinceMs + limitMs) {
      const { last } = this;
      if (last?.isReady === isReady && last.answeredMs >= sinceMs) return last.answeredMs - sinceMs;
      await sleep(20);
    }
    return undefined;
  }

  private async run(): Promise<void> {
    const pending = new Set<Promise<void>>();
    while (!this.isStopped) {
      const sentMs = performance.now();
      // Probes do not wait for each other: one that waits for the store must not hide that the next one passes.
      const probe = this.api.isReady().then((isReady) => {
        if (!this.last || sentMs >= this.last.sentMs) this.last = { isReady, sentMs, answeredMs: performance.now() };
      });
      pending.add(probe);
      void probe.finally(() => pending.delete(probe));
      await sleep(intervalMs);
    }
    await Promise.all(pending);
  }
}
