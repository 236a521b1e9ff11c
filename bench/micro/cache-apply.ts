import { defaultCacheLimits } from '../../src/cache/cache-limits.js';
import { EncodedObject, type Decode, type Rendering } from '../../src/cache/encoded-object.js';
import { ByteHome } from '../../src/cache/byte-home.js';
import { HistoryMemory } from '../../src/cache/history-memory.js';
import { PumpQueue } from '../../src/cache/pump-queue.js';
import { WatchCache, type WatchRequest } from '../../src/cache/watch-cache.js';
import { decodeJson } from '../../src/codec/json.js';
import { encodeStored, spliceResourceVersion } from '../../src/codec/stored-object.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { Revision } from '../../src/machinery/revision.js';
import { systemClock } from '../../src/std/clock.js';
import { silentLogger } from '../../src/std/logger.js';
import type { KvStore, StoreEvent } from '../../src/storage/kv-store.js';
import { putEvent } from '../../src/storage/store-event.js';

/**
 * Cost of an event, a delivery, an object and a watcher in the cache.
 *   node --expose-gc dist/bench/micro/cache-apply.js
 */
const pods = 10_000;
const prefix = '/registry/pods/';
const keyOf = (n: number) => `${prefix}namespace-${n % 100}/pod-${String(n).padStart(6, '0')}`;

const decode: Decode = (item) => {
  const object = decodeJson(item.value) as unknown as KubeObject & { spec: { nodeName: string } };
  const { name = '', namespace = '', labels } = object.metadata;
  const fields = { 'spec.nodeName': object.spec.nodeName, 'status.phase': 'Running' };
  const bytes = spliceResourceVersion(item.value, item.modRevision);
  return new EncodedObject(item.key, item.modRevision, bytes, { name, namespace, labels, fields });
};

const podValue = (n: number) =>
  encodeStored({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name: `pod-${String(n).padStart(6, '0')}`,
      namespace: `namespace-${n % 100}`,
      uid: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
      labels: { app: `app-${n % 50}`, tier: 'backend', 'pod-template-hash': String(n % 977) },
    },
    spec: {
      nodeName: `node-${n % 500}`,
      containers: [
        {
          name: 'main',
          image: 'registry/app:1',
          env: Array.from({ length: 20 }, (_, k) => ({
            name: `VARIABLE_${k}`,
            value: `value number ${k} of this pod`,
          })),
        },
      ],
    },
    status: {
      phase: 'Running',
      conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
        type,
        status: 'True',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      })),
    },
  });

const frameStart = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
} as Record<string, Buffer>;
const frameEnd = Buffer.from('}\n');
const rendering: Rendering = {
  id: 'json',
  render: (object) => object.bytes,
  frame: (type, body) => Buffer.concat([frameStart[type]!, body, frameEnd]),
  bookmark: () => Buffer.alloc(0),
  error: () => Buffer.alloc(0),
};

let revision = 1;
const cacheOf = (decodeItem: Decode) =>
  new WatchCache(
    { prefix, decode: decodeItem, indexedFields: ['spec.nodeName'] },
    {
      store: {} as KvStore,
      clock: systemClock,
      logger: silentLogger,
      limits: defaultCacheLimits,
      byteHome: new ByteHome(),
      historyMemory: new HistoryMemory(defaultCacheLimits.historyBytesOfAllMax),
      pumpQueue: new PumpQueue(),
      position: () => revision as Revision,
      isExpired: () => false,
    },
  );
const put = (n: number, value: Buffer): StoreEvent => {
  revision++;
  return putEvent({ key: keyOf(n), value, createRevision: 1 as Revision, modRevision: revision as Revision });
};
const show = (what: string, value: number, unit: string) =>
  console.log(`${what.padEnd(58)} ${value.toFixed(value < 10 ? 3 : 0).padStart(9)} ${unit}`);
/** CPU time of this process, so that other programs matter little. */
const microsOf = (task: () => void, count: number) => {
  const start = process.cpuUsage();
  task();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / count;
};
const heldBytes = () => {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { js: heapUsed + external, rss };
};

const values = Array.from({ length: pods }, (_, n) => podValue(n));
show('stored bytes of a Pod', values[0]!.length, 'B');

const before = heldBytes();
let cache = cacheOf(decode);
for (let n = 0; n < pods; n++) cache.apply(put(n, values[n]!), 0);
cache.reset(Array.from(cache.snapshot().range(prefix)), revision as Revision);
const loaded = heldBytes();
show('memory of a Pod in the cache (heap + buffers)', (loaded.js - before.js) / pods, 'B');
show('memory of a Pod in the cache (resident)', (loaded.rss - before.rss) / pods, 'B');

const request = (over: Partial<WatchRequest> = {}): WatchRequest => ({
  scope: prefix,
  exactKey: false,
  start: { kind: 'after', revision: revision as Revision },
  matches: undefined,
  equalities: [],
  rendering,
  bookmarks: true,
  initialEventsEnd: false,
  ...over,
});
let writes = 0;
const sink = { write: () => (writes++, true), end: () => undefined };
const events = (count: number) =>
  Array.from({ length: count }, (_, n) => put((n * 7919) % pods, values[(n * 7919) % pods]!));
const applyAll = (batch: readonly StoreEvent[]) =>
  microsOf(() => batch.forEach((event) => cache.apply(event, 0)), batch.length);

for (let round = 0; round < 3; round++) applyAll(events(5_000));
const batch = events(20_000);
show(
  'decode of an event (parse for attributes, splice)',
  microsOf(() => batch.forEach(({ item }) => item && decode(item)), batch.length),
  'us',
);
show('apply of an event, nobody watching', applyAll(batch), 'us');
const more = events(20_000);
const decodedAt = new Map<number, EncodedObject>();
for (const { revision, item } of more) if (item) decodedAt.set(revision, decode(item));
const withoutDecode = cacheOf((item) => decodedAt.get(item.modRevision)!);
show(
  '  of which state, history and fan-out',
  microsOf(() => more.forEach((event) => withoutDecode.apply(event, 0)), more.length),
  'us',
);
const idle = heldBytes();
const nodeWatchers = Array.from({ length: 10_000 }, (_, n) =>
  cache.subscribe(
    request({ equalities: [{ field: 'spec.nodeName', value: `node-${500 + n}` }], matches: () => false }),
    sink,
  ),
);
show('memory of an idle subscription', (heldBytes().js - idle.js) / 10_000, 'B');
show('apply of an event, 10,000 watchers of other nodes', applyAll(events(20_000)), 'us');
nodeWatchers.forEach((watch) => watch.close());

const alone = applyAll(events(4_000));
const same = Array.from({ length: 1_000 }, () => cache.subscribe(request(), sink));
applyAll(events(500));
writes = 0;
const watched = applyAll(events(4_000));
show('apply of an event, 1,000 watchers of everything', watched, 'us');
show('  which is, for each watcher', watched - alone, 'ns');
console.log(`  (${writes} frames written)`);
same.forEach((watch) => watch.close());
const red = Array.from({ length: 1_000 }, () =>
  cache.subscribe(request({ matches: (attributes) => attributes.labels?.['tier'] === 'backend' }), sink),
);
applyAll(events(500));
show('  the same with a label selector, for each watcher', applyAll(events(4_000)) - alone, 'ns');
red.forEach((watch) => watch.close());

const snapshots = events(4_000);
show(
  'apply of an event, a snapshot after each',
  microsOf(() => snapshots.forEach((event) => (cache.apply(event, 0), cache.snapshot())), snapshots.length),
  'us',
);
const history = cache.historySize;
show('history: events', history.events, '');
cache = undefined as unknown as WatchCache;
