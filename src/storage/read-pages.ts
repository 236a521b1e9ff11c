import type { Revision } from '../machinery/revision.js';
import type { KeyValue, KvStore, RangeResult } from './kv-store.js';
import type { Cancellation } from '../std/cancellation.js';

interface PageOptions {
  /** Keys per page. */
  readonly limit: number;
  /**
   * Pages of small values grow up to this number of keys. etcd counts all remaining keys for each page, so that fewer
   * pages make large reads faster.
   */
  readonly limitMax?: number;
  /** The first key to read, inclusive; must start with the prefix. */
  readonly from?: string;
  /** The revision to read at; defaults to that of the first page. */
  readonly revision?: Revision;
  readonly defersValues?: boolean;
  /** Asked before each page is requested: false if its `remaining` is not needed, which LMDB counts key by key. */
  readonly countsAll?: () => boolean;
  readonly signal?: Cancellation;
}

interface Page {
  readonly items: readonly KeyValue[];
  /** The revision of all pages. */
  readonly revision: Revision;
  /** Keys after this page, if they were counted. */
  readonly remaining: number | undefined;
}

interface RequestedPage {
  readonly range: Promise<RangeResult>;
  readonly countsAll: boolean;
}

/** Pages below the first size grow, and those above the second shrink. */
const pageBytesMin = 4 * 1024 * 1024;
const pageBytesMax = 2 * pageBytesMin;

/**
 * Reads every key under a prefix at one revision, page by page. There is always a first page, which may be empty. A page is
 * requested before the one before it is yielded, so that another process can prepare it meanwhile.
 */
export async function* readPages(store: KvStore, prefix: string, options: PageOptions): AsyncGenerator<Page, void> {
  const { signal, defersValues = false, limitMax = options.limit } = options;
  let { limit, revision } = options;
  const request = (from: string): RequestedPage => {
    const countsAll = options.countsAll?.() ?? true;
    const pinned = revision === undefined ? {} : { revision };
    const range = store.range(prefix, { from, limit, defersValues, countsAll, ...(signal && { signal }), ...pinned });
    // Not awaited if the reader stops before.
    range.catch(() => undefined);
    return { range, countsAll };
  };
  let next: RequestedPage | undefined = request(options.from ?? prefix);
  while (next) {
    const { countsAll } = next;
    const { items, count, ...answer }: RangeResult = await next.range;
    if (signal?.aborted) throw signal.reason as Error;
    revision ??= answer.revision;
    const remaining = Math.max(0, count - items.length);
    const last = items.at(-1);
    const bytes = items.reduce((sum, { value, summary }) => sum + value.length + (summary?.length ?? 0), 0);
    if (bytes < pageBytesMin) limit = Math.min(limit * 2, limitMax);
    else if (bytes > pageBytesMax) limit = Math.max(Math.ceil(limit / 2), options.limit);
    next = last && remaining > 0 ? request(`${last.key}\0`) : undefined;
    yield { items, revision, remaining: countsAll || remaining === 0 ? remaining : undefined };
  }
}
