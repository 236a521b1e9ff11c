import type { KubeObject } from '../../src/machinery/kube-object.js';
import { sleep, type Timer } from '../../src/std/clock.js';
import { ApiFailure, type Api, type Pace, type WatchHandle } from './api.js';
import type { ClientOptions } from './client.js';
import type { WatchSeen } from './ledger.js';
import { pick, randomSelection, type Selection } from './selection.js';

/** Version from which a watch may resume. */
interface Position {
  readonly revision: number;
  readonly isResumed: boolean;
}

/**
 * A client that watches as controllers do: a list or the initial state, then changes. After a cut it resumes at any
 * server from a version it received.
 */
export class Watcher {
  private readonly selection: Selection;

  constructor(private readonly options: ClientOptions) {
    this.selection = randomSelection(options.rng);
  }

  async run(stop: AbortSignal): Promise<void> {
    const { rng, clock, ledger, name, mayFail } = this.options;
    let position: Position | undefined;
    while (!stop.aborted) {
      try {
        const initial = position === undefined && rng.below(2) === 0;
        position = initial
          ? await this.follow(undefined, stop)
          : await this.follow(position ?? (await this.list()), stop);
      } catch (error) {
        if (!(error instanceof ApiFailure)) throw error;
        if (error.code === 410) position = undefined;
        else if (!mayFail()) ledger.surprises.push(`${name}: ${error.message}`);
      }
      await sleep(clock, rng.below(100), stop).catch(() => undefined);
    }
  }

  private async list(): Promise<Position> {
    const { rng, ledger, name } = this.options;
    const { selection } = this;
    const isAny = rng.below(3) === 0;
    const atLeast = isAny ? 0 : ledger.acknowledged;
    const page = await this.api().list(selection, { ...selection.query, ...(isAny && { resourceVersion: '0' }) });
    ledger.lists.push({ who: name, selection, atLeast, exactly: undefined, pages: [{ ...page, isLast: true }] });
    return { revision: page.revision, isResumed: false };
  }

  /** Runs one connection. Returns the version to resume from, if any. */
  private async follow(from: Position | undefined, stop: AbortSignal): Promise<Position | undefined> {
    const { rng, clock, ledger, name } = this.options;
    const { selection } = this;
    const api = this.api();
    const start: WatchSeen['start'] = from
      ? { type: 'after', ...from }
      : { type: 'initial', atLeast: rng.below(2) === 0 ? 0 : ledger.acknowledged };
    const seen: WatchSeen = { who: `${name} at ${api.name}`, selection, start, steps: [], end: 'open' };
    const received: number[] = from ? [from.revision] : [];
    let hasBegun = from !== undefined;
    let finish!: () => void;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const ended = (end: WatchSeen['end']) => {
      if (seen.end === 'open') seen.end = end;
      finish();
    };
    const event = (type: string, object: KubeObject) => {
      if (seen.end !== 'open') return;
      const { metadata } = object;
      if (type === 'ERROR') {
        ended((object as { code?: number }).code === 410 ? 'expired' : 'failed');
      } else if (type === 'BOOKMARK') {
        const endsInitial = Object.keys(metadata.annotations ?? {}).some((key) => key.endsWith('initial-events-end'));
        hasBegun ||= endsInitial;
        const revision = Number(metadata.resourceVersion);
        seen.steps.push({ type: 'bookmark', revision, endsInitial });
        received.push(revision);
      } else {
        const key = `${selection.resource}/${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
        seen.steps.push({ type: 'change', change: type, key, object });
        if (hasBegun) received.push(Number(metadata.resourceVersion));
      }
    };
    const handle = await this.open(api, start, { event, ended: () => ended('ended') });
    ledger.watches.push(seen);
    const cut = this.cutAtRandom(() => ended('closed'));
    const stopped = () => finish();
    stop.addEventListener('abort', stopped, { once: true });
    if (stop.aborted) finish();
    await finished;
    stop.removeEventListener('abort', stopped);
    cut.cancel();
    if (stop.aborted) {
      this.stillOpen = handle;
      handle.stopPacing();
      return undefined;
    }
    handle.close();
    if (seen.end === 'expired' || !hasBegun) return undefined;
    await sleep(clock, rng.below(300), stop).catch(() => undefined);
    // Mostly the last version; sometimes an older one, like a client that lost its last progress.
    const revision = rng.below(4) > 0 ? received.at(-1) : received[Math.max(0, received.length - 1 - rng.below(12))];
    return revision === undefined ? undefined : { revision, isResumed: true };
  }

  /** The watch that is open when the run stops: it must still receive all events. */
  private stillOpen: WatchHandle | undefined;

  close(): void {
    this.stillOpen?.close();
  }

  private open(
    api: Api,
    start: WatchSeen['start'],
    listener: { event: (type: string, object: KubeObject) => void; ended: () => void },
  ): Promise<WatchHandle> {
    const { rng } = this.options;
    const common = { ...this.selection.query, allowWatchBookmarks: 'true' };
    const query =
      start.type === 'after'
        ? { ...common, resourceVersion: String(start.revision) }
        : {
            ...common,
            sendInitialEvents: 'true',
            resourceVersionMatch: 'NotOlderThan',
            ...(start.atLeast === 0 && { resourceVersion: '0' }),
          };
    const isSlow = rng.below(3) === 0;
    const pace: Pace = isSlow
      ? { eventsMax: 1 + rng.below(5), delayMs: 1 + rng.below(60) }
      : { eventsMax: Infinity, delayMs: 0 };
    return api.watch(this.selection, query, listener, pace);
  }

  private cutAtRandom(cut: () => void): Timer {
    const { rng, clock } = this.options;
    const stays = rng.below(4) === 0;
    return stays ? { cancel: () => undefined } : clock.after(20 + rng.below(pick(rng, [200, 1_000, 4_000])), cut);
  }

  private api(): Api {
    return pick(this.options.rng, this.options.apis);
  }
}
