/** Every bound of the cache. The composition root reads them from config/limits.yaml. */
export interface CacheLimits {
  /** Objects read from the store at a time while loading. */
  readonly loadPageItems: number;
  /** A load that failed is tried again after a delay that doubles between these two. */
  readonly retryDelayMinMs: number;
  readonly retryDelayMaxMs: number;

  /** Events that a resource keeps whatever their age. */
  readonly historyEventsMin: number;
  /** Events and bytes that a resource never exceeds; between min and max, events are kept for historyRetentionMs. */
  readonly historyEventsMax: number;
  readonly historyBytesMax: number;
  readonly historyRetentionMs: number;
  /** How long a list can go on at the revision of its first page without asking the store. */
  readonly snapshotRetentionMs: number;
  /** Events between two states that are kept ready; a state between them is worked out from the next one. */
  readonly snapshotSpacingEvents: number;
  /** The latest events keep their frames, because many watchers are about to send the same ones. */
  readonly framedEventsMax: number;

  /** Events applied, and events looked at for one lagging watcher, before others get their turn. */
  readonly applySliceEvents: number;
  readonly replaySliceEvents: number;
  /** Of a history that is too long for the ring, a watcher is told so many events at a time. */
  readonly pastChunkEvents: number;
  readonly pastChunkBytes: number;
  /** Reading older history from the store takes at most this long. */
  readonly backfillTimeoutMs: number;

  /** Asking the store for its revision takes at most this long. */
  readonly revisionTimeoutMs: number;
  /** From so many readers on, the last question's and the next one's together, it is held back for more of them. */
  readonly revisionGatherReadersMin: number;
  readonly revisionGatherMs: number;
  /** While somebody waits for the feed, it asks the store for progress after delays that double between these two. */
  readonly progressDelayMinMs: number;
  readonly progressDelayMaxMs: number;
  /** How often an idle feed makes sure that it is up to date, and when it no longer counts as synced. */
  readonly heartbeatMs: number;
  readonly lagMaxMs: number;
}

export const defaultCacheLimits: CacheLimits = {
  loadPageItems: 500,
  retryDelayMinMs: 50,
  retryDelayMaxMs: 5_000,
  historyEventsMin: 256,
  historyEventsMax: 65_536,
  historyBytesMax: 128 * 1024 * 1024,
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
  heartbeatMs: 5_000,
  lagMaxMs: 15_000,
};
