import { ApiFailure } from '../simulation/api.js';
import type { HttpApi } from '../simulation/http-api.js';
import { everything, followChanges } from './follow-changes.js';
import type { FinalState, WatchEvent, WatchView } from './record.js';
import { isOurs, versionOf } from './versions.js';

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A client that watches from the first write to the last, and resumes after each cut. */
export class Observer {
  readonly events: WatchEvent[] = [];
  /** Number of resumed watches. */
  resumed = 0;
  /** The revision of the last event or bookmark. */
  until = 0;
  private isClosed = false;
  private hasEnded: Promise<void> | undefined;

  constructor(
    private readonly api: HttpApi,
    private readonly after: number,
  ) {
    this.until = after;
  }

  static async start(api: HttpApi): Promise<Observer> {
    const { revision } = await api.list(everything, {});
    const observer = new Observer(api, revision);
    observer.hasEnded = observer.run();
    return observer;
  }

  /** Waits until the watch has reached a revision. */
  async reached(revision: number): Promise<void> {
    const deadline = Date.now() + 120_000;
    while (this.until < revision) {
      if (Date.now() > deadline) throw new Error(`the watch stopped at ${this.until} before revision ${revision}`);
      await sleep(20);
    }
  }

  async close(): Promise<WatchView> {
    this.isClosed = true;
    this.cut();
    await this.hasEnded;
    return { after: this.after, until: this.until, events: this.events };
  }

  private cut: () => void = () => undefined;

  private async run(): Promise<void> {
    while (!this.isClosed) {
      try {
        await this.follow();
      } catch (error) {
        if (!(error instanceof ApiFailure) || error.code === 410) throw error;
      }
      if (this.isClosed) return;
      this.resumed++;
      await sleep(20);
    }
  }

  private async follow(): Promise<void> {
    await followChanges(this.api, this, { opened: (cut) => this.opened(cut) });
  }

  private opened(cut: () => void): void {
    this.cut = cut;
    if (this.isClosed) cut();
  }
}

/** Reads the state after all writers have stopped. */
export async function finalState(api: HttpApi): Promise<FinalState> {
  const { revision, items } = await api.list(everything, {});
  const ours = items.filter(({ metadata }) => isOurs(metadata.name));
  return { revision, versions: new Map(ours.map((object) => [object.metadata.name!, versionOf(object)])) };
}
