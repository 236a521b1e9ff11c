import { setMaxListeners } from 'node:events';
import type { Clock } from '../../src/std/clock.js';
import type { Rng } from '../../src/std/rng.js';
import { ApiFailure, type Api } from './api.js';
import { Client } from './client.js';
import { Ledger } from './ledger.js';
import { namespaces } from './selection.js';
import { Watcher } from './watcher.js';

interface CrowdOptions {
  readonly apis: readonly Api[];
  readonly clock: Clock;
  /** Returns an independent random generator. */
  readonly fork: () => Rng;
  readonly pauseMsMax: number;
  readonly mayFail: () => boolean;
}

/** The clients and watchers of a run, and their record. */
export class Crowd {
  readonly ledger = new Ledger();
  private readonly stopping = new AbortController();
  private readonly watchers: Watcher[] = [];
  private readonly running: Promise<void>[] = [];

  constructor(private readonly options: CrowdOptions) {
    setMaxListeners(0, this.stopping.signal);
  }

  /** Creates their namespaces, and retries until it succeeds: an answer may be lost. */
  async makeNamespaces(): Promise<void> {
    for (const name of namespaces) {
      for (let isThere = false; !isThere;) {
        isThere = await this.options.apis[0]!.createNamespace(name).then(
          () => true,
          (error: unknown) => {
            if (error instanceof ApiFailure) return error.reason === 'AlreadyExists';
            throw error;
          },
        );
      }
    }
  }

  start(count: number): void {
    const { apis, clock, fork, pauseMsMax, mayFail } = this.options;
    const common = { apis, clock, ledger: this.ledger, pauseMsMax, mayFail };
    const { signal } = this.stopping;
    for (let n = 0; n < count; n++) {
      this.running.push(new Client({ ...common, name: `client-${n}`, rng: fork() }).run(signal));
      const watcher = new Watcher({ ...common, name: `watcher-${n}`, rng: fork() });
      this.watchers.push(watcher);
      this.running.push(watcher.run(signal));
    }
  }

  /** Finishes running requests; watches stay open to receive the remaining events. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('the time is up'));
    await Promise.all(this.running);
  }

  close(): void {
    this.watchers.forEach((watcher) => watcher.close());
  }
}
