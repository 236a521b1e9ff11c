import { ApiFailure } from '../simulation/api.js';
import type { HttpApi } from '../simulation/http-api.js';
import type { Selection } from '../simulation/selection.js';
import type { FinalState, WatchEvent, WatchView } from './record.js';
import { isOurs, namespace, versionOf } from './versions.js';

const everything: Selection = {
  resource: 'configmaps',
  namespace,
  query: {},
  encoding: 'json',
  selects: () => true,
};
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A client that watches from the first write to the last, and resumes after each cut. */
export class Observer {
  readonly events: WatchEvent[] = [];
  /** Number of resumed watches. */
  resumed = 0;
  private until = 0;
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
    const deadline = Date.now() + 20_000;
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
    const query = { resourceVersion: String(this.until), allowWatchBookmarks: 'true' };
    let finish!: () => void;
    let failure: Error | undefined;
    const ended = new Promise<void>((resolve) => (finish = resolve));
    const event = (type: string, object: Parameters<typeof versionOf>[0]) => {
      if (type === 'ERROR') {
        const { code = 0, reason = '', message = '' } = object as { code?: number; reason?: string; message?: string };
        failure = new ApiFailure(code, reason, message);
        return finish();
      }
      this.until = Number(object.metadata.resourceVersion);
      const { name } = object.metadata;
      if (type !== 'BOOKMARK' && isOurs(name)) this.events.push({ type, key: name!, version: versionOf(object) });
    };
    const handle = await this.api.watch(
      everything,
      query,
      { event, ended: finish },
      { eventsMax: Infinity, delayMs: 0 },
    );
    this.cut = finish;
    if (this.isClosed) finish();
    await ended;
    handle.close();
    if (failure) throw failure;
  }
}

/** Reads the state after all writers have stopped. */
export async function finalState(api: HttpApi): Promise<FinalState> {
  const { revision, items } = await api.list(everything, {});
  const ours = items.filter(({ metadata }) => isOurs(metadata.name));
  return { revision, versions: new Map(ours.map((object) => [object.metadata.name!, versionOf(object)])) };
}
