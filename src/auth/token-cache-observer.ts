/** Counts the use of caches of token results, for metrics. No method gets a token. */
export interface TokenCacheObserver {
  /** A request whose result was cached. */
  hit(): void;
  /** A request that has to wait for its result. Returns the function to call when it ends. */
  miss(): () => void;
  /** A token that authenticators are asked for. Returns the function to call with the result; false after an error. */
  fetch(): (isOk: boolean) => void;
}

const nothing = () => undefined;
export const noTokenCacheObserver: TokenCacheObserver = { hit: nothing, miss: () => nothing, fetch: () => nothing };
