/** Limits of the cache, from config/limits.yaml. */
export interface CacheLimits {
  /** Objects of the first page when loading from the store, and of a later page of small objects. */
  readonly loadPageItems: number;
  readonly loadPageItemsMax: number;
  /** A load that takes longer asks the store how many objects there are. */
  readonly loadCountMs: number;
  /** Interval of log lines about a load that takes long. */
  readonly loadReportMs: number;
  /** A failed load is retried after a delay that doubles between these two. */
  readonly retryDelayMinMs: number;
  readonly retryDelayMaxMs: number;

  /** Events that a resource keeps regardless of their age, as long as they take no more than historyBytesMin. */
  readonly historyEventsMin: number;
  readonly historyBytesMin: number;
  /** Limits of events and bytes per resource. Between min and max, events are kept for historyRetentionMs. */
  readonly historyEventsMax: number;
  readonly historyBytesMax: number;
  /** Limit of bytes of all resources together. */
  readonly historyBytesOfAllMax: number;
  readonly historyRetentionMs: number;
  /** The time that a paged list can continue at its revision without reading the store. */
  readonly snapshotRetentionMs: number;
  /** Events between two kept states. A state in between is computed from the next younger one. */
  readonly snapshotSpacingEvents: number;
  /** The latest events keep their frames, since many watchers are about to send the same ones. */
  readonly framedEventsMax: number;

  /** Events applied, and events examined for one lagging watcher, before other work runs. */
  readonly applySliceEvents: number;
  readonly replaySliceEvents: number;
  /** Chunk size for a watcher whose missed events do not fit into the ring. */
  readonly pastChunkEvents: number;
  readonly pastChunkBytes: number;
  /** Timeout for reading older events from the store. */
  readonly backfillTimeoutMs: number;

  /** Timeout for reading the revision of the store. */
  readonly revisionTimeoutMs: number;
  /**
   * If the previous and the next revision read serve this many readers together, the next one is delayed by
   * revisionGatherMs to collect more readers.
   */
  readonly revisionGatherReadersMin: number;
  readonly revisionGatherMs: number;
  /**
   * While readers wait for the feed, it requests progress from the store after delays that double between these two.
   */
  readonly progressDelayMinMs: number;
  readonly progressDelayMaxMs: number;
  /**
   * Beyond that many bytes, objects leave memory that nobody has read for coldPassMs to twice as long. They are read again
   * from the store if it offers that; otherwise they stay compressed.
   */
  readonly warmBytes: number;
  readonly coldPassMs: number;
  /** Interval of freshness checks of an idle feed, and the lag beyond which the feed is no longer synced. */
  readonly heartbeatMs: number;
  readonly lagMaxMs: number;
}

export const defaultCacheLimits: CacheLimits = {
  loadPageItems: 500,
  loadPageItemsMax: 4_000,
  loadCountMs: 1_000,
  loadReportMs: 2_000,
  retryDelayMinMs: 50,
  retryDelayMaxMs: 5_000,
  historyEventsMin: 256,
  historyBytesMin: 1024 * 1024,
  historyEventsMax: 65_536,
  historyBytesMax: 128 * 1024 * 1024,
  historyBytesOfAllMax: 256 * 1024 * 1024,
  historyRetentionMs: 75_000,
  snapshotRetentionMs: 75_000,
  snapshotSpacingEvents: 64,
  framedEventsMax: 64,
  applySliceEvents: 512,
  replaySliceEvents: 128,
  pastChunkEvents: 1_024,
  pastChunkBytes: 4 * 1024 * 1024,
  backfillTimeoutMs: 10_000,
  revisionTimeoutMs: 3_000,
  revisionGatherReadersMin: 8,
  revisionGatherMs: 1,
  progressDelayMinMs: 2,
  progressDelayMaxMs: 250,
  warmBytes: 64 * 1024 * 1024,
  coldPassMs: 20_000,
  heartbeatMs: 5_000,
  lagMaxMs: 15_000,
};
