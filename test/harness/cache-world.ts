import { defaultCacheLimits, type CacheLimits } from '../../src/cache/cache-limits.js';
import { EncodedObject, type Decode, type Rendering } from '../../src/cache/encoded-object.js';
import { Feed } from '../../src/cache/feed.js';
import type { EventSink, Subscription, WatchCache, WatchRequest } from '../../src/cache/watch-cache.js';
import { decodeJson, encodeJson } from '../../src/codec/json.js';
import { encodeStored, spliceResourceVersion } from '../../src/codec/stored-object.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { Revision } from '../../src/machinery/revision.js';
import { MemoryStore } from '../../src/storage/backends/memory/memory-store.js';
import type { KvStore } from '../../src/storage/kv-store.js';
import { ManualClock } from '../../src/std/clock.js';
import { silentLogger } from '../../src/std/logger.js';
import { CutStore } from './cut-store.js';

export const pods = '/registry/pods/';

export interface PodLook {
  readonly labels?: Record<string, string>;
  readonly node?: string;
  readonly version?: number;
}

export const decodePod: Decode = (item) => {
  const value = item.deferred ? item.deferred.read(item.key, item.modRevision) : item.value;
  const object = decodeJson(value) as unknown as KubeObject & { spec?: { nodeName?: string } };
  const { name = '', namespace = '', labels } = object.metadata;
  const fields = { 'spec.nodeName': object.spec?.nodeName ?? '' };
  const bytes = spliceResourceVersion(value, item.modRevision);
  return new EncodedObject(item.key, item.modRevision, bytes, { name, namespace, labels, fields });
};

function podBytes(namespace: string, name: string, look: PodLook): Buffer {
  return encodeStored({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace, ...(look.labels && { labels: look.labels }) },
    spec: { nodeName: look.node ?? '', version: look.version ?? 0 },
  });
}

const frame = (type: string, body: Buffer) => Buffer.from(`{"type":"${type}","object":${body.toString()}}\n`);
export const jsonRendering: Rendering = {
  id: 'json',
  render: (object) => object.bytes,
  frame,
  bookmark: (revision, isEnd) =>
    frame(
      'BOOKMARK',
      encodeJson({ metadata: { resourceVersion: String(revision), ...(isEnd && { annotations: { end: 'true' } }) } }),
    ),
  error: (status) => frame('ERROR', encodeJson(status)),
};

interface SeenEvent {
  readonly type: string;
  readonly key: string;
  readonly revision: number;
  readonly object: KubeObject & { message?: string; code?: number; spec?: { version?: number } };
}

/** A socket with a buffer of a number of frames. */
export class RecordingSink implements EventSink {
  readonly events: SeenEvent[] = [];
  readonly frames: Buffer[] = [];
  isEnded = false;
  overruns = 0;
  constructor(public room = Infinity) {}

  write(bytes: Buffer): boolean {
    if (this.room <= 0 && !bytes.includes('"ERROR"')) this.overruns++;
    this.room--;
    const { type, object } = JSON.parse(bytes.toString()) as { type: string; object: SeenEvent['object'] };
    const { namespace, name, resourceVersion } = object.metadata;
    this.frames.push(bytes);
    this.events.push({ type, key: `${namespace}/${name}`, revision: Number(resourceVersion), object });
    return this.room > 0;
  }
  end(): void {
    this.isEnded = true;
  }
  /** `ADDED a@3`, `BOOKMARK @7 end`, `ERROR message`. */
  get eventLines(): string[] {
    return this.events.map(({ type, object }) => {
      const { name = '', resourceVersion, annotations } = object.metadata;
      if (type === 'ERROR') return `ERROR ${object.code} ${object.message}`;
      return `${type} ${name}@${resourceVersion}${annotations ? ' end' : ''}`;
    });
  }
}

/** A store, a feed and the cache of pods, on a manual clock. */
export class CacheWorld {
  readonly clock = new ManualClock();
  readonly memory = new MemoryStore({ clock: this.clock });
  readonly store = new CutStore(this.memory);
  readonly feed: Feed;
  readonly cache: WatchCache;

  constructor(limits: Partial<CacheLimits> = {}, indexedFields = ['spec.nodeName']) {
    this.feed = new Feed({
      store: this.store,
      root: '/registry/',
      clock: this.clock,
      logger: silentLogger,
      limits: { ...defaultCacheLimits, ...limits },
    });
    this.cache = this.feed.addResource({ prefix: pods, decode: decodePod, indexedFields });
  }

  static async started(limits: Partial<CacheLimits> = {}): Promise<CacheWorld> {
    const world = new CacheWorld(limits);
    await world.feed.start();
    return world;
  }

  /** Creates or updates a Pod. Returns the revision. */
  async put(name: string, look: PodLook = {}, namespace = 'ns', store: KvStore = this.memory): Promise<Revision> {
    return this.write(
      { type: 'put', key: `${pods}${namespace}/${name}`, value: podBytes(namespace, name, look) },
      store,
    );
  }
  async remove(name: string, namespace = 'ns'): Promise<Revision> {
    return this.write({ type: 'delete', key: `${pods}${namespace}/${name}` }, this.memory);
  }
  async write(write: Parameters<KvStore['txn']>[1][number], store: KvStore = this.memory): Promise<Revision> {
    const { revision } = await store.txn([], [write]);
    await this.runPending();
    return revision;
  }

  watch(request: Partial<WatchRequest> = {}, sink = new RecordingSink()): Subscription & { sink: RecordingSink } {
    const subscription = this.cache.subscribe(
      {
        scope: pods,
        exactKey: false,
        start: { kind: 'after', revision: this.feed.position },
        matches: undefined,
        equalities: [],
        rendering: jsonRendering,
        bookmarks: true,
        initialEventsEnd: false,
        ...request,
      },
      sink,
    );
    return Object.assign(subscription, { sink });
  }

  /** Runs pending work to its end. */
  async runPending(turns = 4): Promise<void> {
    for (let n = 0; n < turns; n++) await new Promise(setImmediate);
  }
  async close(): Promise<void> {
    await this.feed.close();
    await this.memory.close();
  }
}

export const initial = { kind: 'initial' } as const;
export const after = (revision: number) => ({ kind: 'after', revision: revision as Revision }) as const;
