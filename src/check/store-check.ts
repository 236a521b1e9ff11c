import type { Feed } from '../cache/feed.js';
import type { WatchCache } from '../cache/watch-cache.js';
import type { EncodedObject } from '../cache/encoded-object.js';
import type { Revision } from '../machinery/revision.js';
import { isCustom, type ResourceRegistry, type ServedResource } from '../registry/resource-registry.js';
import type { ResourceStore } from '../registry/resource-store.js';
import type { Clock } from '../std/clock.js';
import type { KeyValue, KvStore } from '../storage/kv-store.js';
import { readPages } from '../storage/read-pages.js';
import { StorageError } from '../storage/storage-error.js';
import type { CheckReport, ObjectCounts } from './check-report.js';
import { OtherKeys } from './other-keys.js';
import { ResourceTally } from './resource-tally.js';

interface StoreCheckOptions {
  readonly store: KvStore;
  /** The prefix of all keys: `/registry/`. */
  readonly root: string;
  /** Holds the built-in resources; the custom ones are added when their definitions are loaded. */
  readonly registry: ResourceRegistry;
  /** Not started; only finds the resource of a key. */
  readonly feed: Feed;
  /** The CustomResourceDefinitions. */
  readonly definitions: ResourceStore;
  /** True if --runtime-config enables the version of a built-in resource. */
  readonly isServed: (group: string, version: string, resource: string) => boolean;
  readonly pageItems: number;
  /** Problems listed per resource; further ones are only counted. */
  readonly problemsMax: number;
  readonly clock: Clock;
}

interface CheckProgress {
  readonly keys: number;
  /** Undefined before the first page. */
  readonly keysTotal: number | undefined;
  readonly problems: number;
}

/** Consecutive compactions after which the check fails, if no page could be read between them. */
const compactionsMax = 5;

/** Factor by which pages of small values grow: 1,000,000 keys are 250 pages. */
const pageGrowthMax = 8;

/**
 * Reads a whole store as a starting server does, without starting one: first CustomResourceDefinitions, which define
 * the custom kinds, then every key in pages at one revision. Holds one page and the report in memory.
 */
export class StoreCheck {
  private keys = 0;
  private keysTotal: number | undefined;
  private problems = 0;
  private readonly tallies = new Map<WatchCache, ResourceTally>();
  private readonly resources = new Map<string, { readonly served: ServedResource; readonly isServed: boolean }>();
  private others: OtherKeys;

  constructor(private readonly options: StoreCheckOptions) {
    this.others = this.otherKeys(new Set());
  }

  get progress(): CheckProgress {
    return { keys: this.keys, keysTotal: this.keysTotal, problems: this.problems };
  }

  async run(): Promise<CheckReport> {
    const { store, clock, root } = this.options;
    const beginMs = clock.monotonicMs();
    const revision = await store.revision();
    await this.loadDefinitions(revision);
    this.findResources();
    const lastRevision = await this.readAll(revision);
    const resources = Array.from(this.tallies.values(), (tally) => tally.report());
    const others = this.others.reports();
    return {
      prefix: root.slice(0, -1),
      revision,
      lastRevision,
      seconds: Math.round((clock.monotonicMs() - beginMs) / 100) / 10,
      keys: this.keys,
      totals: totalsOf(resources),
      resources,
      others,
      isClean: this.problems === 0,
    };
  }

  /**
   * Loads CustomResourceDefinitions through the cache, from which custom kinds are served, as the feed of a server
   * does.
   */
  private async loadDefinitions(revision: Revision): Promise<void> {
    const { store, definitions, pageItems } = this.options;
    const prefix = definitions.scopeOf('');
    const objects: EncodedObject[] = [];
    for await (const { items } of readPages(store, prefix, { limit: pageItems, revision })) {
      for (const item of items) objects.push(definitions.codec.decode(item));
    }
    definitions.cache.reset(objects, revision);
    this.others = this.otherKeys(new Set(objects.map(({ key }) => key.slice(prefix.length))));
  }

  private findResources(): void {
    for (const served of this.options.registry.storedResources()) {
      const { group, version, plural } = served.definition;
      const prefix = served.store.scopeOf('');
      const known = this.resources.get(prefix);
      const isServed = isCustom(served) || this.options.isServed(group, version, plural);
      if (!known || (isServed && !known.isServed)) this.resources.set(prefix, { served, isServed });
    }
  }

  /** Returns the revision of the last page, which is later than `first` if the store was compacted meanwhile. */
  private async readAll(first: Revision): Promise<Revision> {
    const { store, root, pageItems: limit } = this.options;
    const limitMax = limit * pageGrowthMax;
    let revision = first;
    let from = root;
    for (let compactions = 0; ;) {
      try {
        for await (const { items, remaining } of readPages(store, root, { from, limit, limitMax, revision })) {
          this.keysTotal = this.keys + items.length + (remaining ?? 0);
          for (const item of items) this.tally(item);
          compactions = 0;
          from = `${items.at(-1)?.key ?? from}\0`;
        }
        return revision;
      } catch (error) {
        const isCompacted = error instanceof StorageError && error.code === 'compacted';
        if (!isCompacted || ++compactions > compactionsMax) throw error;
        revision = await store.revision();
      }
    }
  }

  private tally(item: KeyValue): void {
    this.keys++;
    const cache = this.options.feed.cacheOf(item.key);
    const problem = cache ? this.tallyOf(cache).take(item) : this.others.take(item);
    if (problem) this.problems++;
  }

  private tallyOf(cache: WatchCache): ResourceTally {
    const known = this.tallies.get(cache);
    if (known) return known;
    const { root, problemsMax } = this.options;
    const { served, isServed = true } = this.resources.get(cache.prefix) ?? {};
    const path = cache.prefix.slice(root.length, -1);
    const tally = new ResourceTally({ cache, served, isServed, path, problemsMax });
    this.tallies.set(cache, tally);
    return tally;
  }

  private otherKeys(definitions: ReadonlySet<string>): OtherKeys {
    const { root, problemsMax } = this.options;
    return new OtherKeys({ root, problemsMax, definitions });
  }
}

function totalsOf(resources: readonly ObjectCounts[]): ObjectCounts {
  const sum = (count: keyof ObjectCounts) => resources.reduce((total, one) => total + one[count], 0);
  return { objects: sum('objects'), readable: sum('readable'), converted: sum('converted'), valid: sum('valid') };
}
