/** What happened to one cache so far, in plain numbers, for whoever measures the server. */
export class CacheCounts {
  /** Events of the store that were taken in, each handed to its watchers at once. */
  events = 0;
  /** How often the state was read as a whole. */
  loads = 0;
  /** States of objects that came from the store and could not be read. */
  unreadable = 0;
  /** Reads that waited until the cache held all that was acknowledged before. */
  consistentReads = 0;
  staleReads = 0;
  /** Lists from memory: how many, objects that were looked at for them, and objects that they showed. */
  readonly lists = { count: 0, fetched: 0, returned: 0 };
  /** The same for lists of old states that the store was asked for. */
  readonly storeLists = { count: 0, fetched: 0, returned: 0 };
}
