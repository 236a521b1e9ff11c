import { setTimeout as sleep } from 'node:timers/promises';
import { everything, followChanges } from '../linearizability/follow-changes.js';
import type { ReadCall, WatchEvent, WatchView } from '../linearizability/record.js';
import { objectNames, versionOf } from '../linearizability/versions.js';
import { ApiFailure } from '../simulation/api.js';
import type { HttpApi } from '../simulation/http-api.js';

/** Time for the last event to arrive at the end of a run. */
const arrivalMsMax = 120_000;

/**
 * Lists and watches as controllers do: resumes after each cut from the last version it received, and lists again after a
 * 410. Every list begins a view, whose events must be exactly the changes after it.
 */
export class Informer {
  readonly views: WatchView[] = [];
  readonly reads: ReadCall[] = [];
  resumed = 0;
  expired = 0;
  private view: { after: number; until: number; events: WatchEvent[] } | undefined;
  private isClosed = false;
  private cut: () => void = () => undefined;
  private readonly hasEnded: Promise<void>;

  constructor(
    private readonly api: HttpApi,
    private readonly now: () => number,
  ) {
    this.hasEnded = this.run();
  }

  /** Returns false if the watch does not reach the revision in time. */
  async reached(revision: number): Promise<boolean> {
    const deadline = Date.now() + arrivalMsMax;
    while ((this.view?.until ?? 0) < revision) {
      if (Date.now() > deadline) return false;
      await sleep(20);
    }
    return true;
  }

  /** Reconnects, as after a cut of the client's network. */
  reconnect(): void {
    this.cut();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.cut();
    await this.hasEnded;
    this.endView();
  }

  private async run(): Promise<void> {
    while (!this.isClosed) {
      try {
        if (!this.view) await this.list();
        else await this.follow(this.view);
        this.resumed++;
      } catch (error) {
        if (!(error instanceof ApiFailure)) throw error;
        if (error.code === 410) {
          this.expired++;
          this.endView();
        }
      }
      if (!this.isClosed) await sleep(50);
    }
  }

  private endView(): void {
    if (this.view) this.views.push(this.view);
    this.view = undefined;
  }

  private async list(): Promise<void> {
    const began = this.now();
    const { revision, items } = await this.api.list(everything, {});
    const ended = this.now();
    for (const key of objectNames) {
      const object = items.find(({ metadata }) => metadata.name === key);
      this.reads.push({ key, began, ended, version: object && versionOf(object) });
    }
    this.view = { after: revision, until: revision, events: [] };
  }

  private async follow(view: NonNullable<typeof this.view>): Promise<void> {
    await followChanges(this.api, view, { query: { timeoutSeconds: '60' }, opened: (cut) => this.opened(cut) });
  }

  private opened(cut: () => void): void {
    this.cut = cut;
    if (this.isClosed) cut();
  }
}
