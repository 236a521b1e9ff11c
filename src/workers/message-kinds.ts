/** Kinds of frames between the processes of a server; 0 and 1 are answers. */
export const messageKinds = {
  // From a worker: calls and watches of the store.
  get: 16,
  range: 17,
  txn: 18,
  revision: 19,
  compact: 20,
  watch: 21,
  requestProgress: 22,
  closeWatch: 23,
  // To a worker: deliveries of its watches.
  watchEvents: 32,
  watchProgress: 33,
  watchEnded: 34,
  // From a worker, about the whole server.
  isReady: 48,
  connectionTaken: 54,
  connectionsClosed: 49,
  audit: 50,
  failedChecks: 51,
  wholeMetrics: 52,
  setVerbosityOfAll: 53,
  // To a worker.
  ownMetrics: 64,
  setVerbosity: 65,
  applied: 66,
} as const;
