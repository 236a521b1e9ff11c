import type { AnyResponse } from './raw-messages.js';

const stopAwaiting = Symbol('stopAwaiting');

interface AwaitedAnswer {
  [stopAwaiting]?: () => void;
}

/** Marks an answer that a stopping server waits for, until `release` is called. */
export function awaitAtStop(response: AnyResponse, release: () => void): void {
  (response as AwaitedAnswer)[stopAwaiting] = release;
}

/**
 * A stopping server does not wait for this answer, which may have no end, such as a followed log: it is cut when the
 * others have ended.
 */
export function cutAtStop(response: AnyResponse): void {
  (response as AwaitedAnswer)[stopAwaiting]?.();
}
