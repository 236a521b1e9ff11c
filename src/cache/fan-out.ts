import type { CacheEvent } from './cache-event.js';
import type { WatchRequest } from './watch-request.js';

/** A watcher that is up to date and waits for the next event. */
export interface ActiveWatcher {
  readonly request: WatchRequest;
  /** The position in the index, so that removal is O(1). */
  bucket: WatcherBucket | undefined;
  bucketIndex: number;
  /** The number of the last event delivered to it. */
  lastSeen: number;
  deliver(event: CacheEvent): void;
}

/** Unordered watchers with the same index key. Removal moves the last watcher into the gap. */
export class WatcherBucket {
  readonly watchers: ActiveWatcher[] = [];
  constructor(
    readonly index: Map<string, WatcherBucket> | undefined,
    readonly name: string,
  ) {}
}

/**
 * Finds the watchers of an event without visiting the others. Each watcher is in one bucket, the narrowest that fits:
 *
 *   one key  ·  spec.nodeName = node-7  ·  /registry/pods/ns-1/  ·  everything
 *
 * An event visits the buckets of its key, of its namespace and, for each indexed field, of its old and new value.
 */
export class FanOut {
  private readonly everything = new WatcherBucket(undefined, '');
  private readonly byKey = new Map<string, WatcherBucket>();
  private readonly byParent = new Map<string, WatcherBucket>();
  private readonly byField: readonly { readonly field: string; readonly buckets: Map<string, WatcherBucket> }[];

  constructor(
    private readonly prefix: string,
    indexedFields: readonly string[],
  ) {
    this.byField = indexedFields.map((field) => ({ field, buckets: new Map<string, WatcherBucket>() }));
  }

  add(watcher: ActiveWatcher): void {
    const bucket = this.bucketFor(watcher.request);
    watcher.bucket = bucket;
    watcher.bucketIndex = bucket.watchers.length;
    bucket.watchers.push(watcher);
  }

  remove(watcher: ActiveWatcher): void {
    const { bucket, bucketIndex } = watcher;
    if (!bucket) return;
    const last = bucket.watchers.pop()!;
    if (last !== watcher) {
      bucket.watchers[bucketIndex] = last;
      last.bucketIndex = bucketIndex;
    }
    watcher.bucket = undefined;
    if (bucket.watchers.length === 0) bucket.index?.delete(bucket.name);
  }

  dispatch(event: CacheEvent, number: number): void {
    visit(this.everything, event, number);
    if (this.byKey.size > 0) visit(this.byKey.get(event.key), event, number);
    if (this.byParent.size > 0) visit(this.byParent.get(parentOf(event.key)), event, number);
    for (const { field, buckets } of this.byField) {
      if (buckets.size === 0) continue;
      const before = event.previous && (event.previous.attributes.fields[field] ?? '');
      const after = event.current && (event.current.attributes.fields[field] ?? '');
      if (before !== undefined) visit(buckets.get(before), event, number);
      if (after !== undefined && after !== before) visit(buckets.get(after), event, number);
    }
  }

  private bucketFor(request: WatchRequest): WatcherBucket {
    if (request.exactKey) return bucketIn(this.byKey, request.scope);
    for (const { field, buckets } of this.byField) {
      const equality = request.equalities.find((other) => other.field === field);
      if (equality) return bucketIn(buckets, equality.value);
    }
    const isOneNamespace = request.scope !== this.prefix && parentOf(`${request.scope}name`) === request.scope;
    return isOneNamespace ? bucketIn(this.byParent, request.scope) : this.everything;
  }
}

function bucketIn(buckets: Map<string, WatcherBucket>, name: string): WatcherBucket {
  let bucket = buckets.get(name);
  if (!bucket) buckets.set(name, (bucket = new WatcherBucket(buckets, name)));
  return bucket;
}

const parentOf = (key: string) => key.slice(0, key.lastIndexOf('/') + 1);

/**
 * Iterates from the end, so that removing the current watcher moves in one that was already visited. Others may be
 * removed too, so lastSeen prevents a second delivery.
 */
function visit(bucket: WatcherBucket | undefined, event: CacheEvent, number: number): void {
  if (!bucket) return;
  const { watchers } = bucket;
  for (let i = watchers.length - 1; i >= 0; i--) {
    const watcher = watchers[i];
    if (!watcher || watcher.lastSeen === number) continue;
    watcher.lastSeen = number;
    watcher.deliver(event);
  }
}
