/** Counters of one cache, for metrics. */
export class CacheCounts {
  /** Events of the store that were applied. */
  events = 0;
  /** Loads of the whole state. */
  loads = 0;
  /** Stored states that could not be decoded. */
  unreadable = 0;
  /** Reads that waited until the cache held all acknowledged writes. */
  consistentReads = 0;
  staleReads = 0;
  /** Lists from memory: their number, the objects examined, and the objects returned. */
  readonly lists = { count: 0, fetched: 0, returned: 0 };
  /** The same for lists of old revisions that were read from the store. */
  readonly storeLists = { count: 0, fetched: 0, returned: 0 };
}
