import type { AnyResponse } from './raw-messages.js';

/** The answers that a stopping server waits for, with the function that removes one. */
const awaited = new WeakMap<AnyResponse, () => void>();

export function awaitAtStop(response: AnyResponse, release: () => void): void {
  awaited.set(response, release);
}

/**
 * A stopping server does not wait for this answer, which may have no end, such as a followed log: it is cut when the
 * others have ended.
 */
export function cutAtStop(response: AnyResponse): void {
  awaited.get(response)?.();
}
