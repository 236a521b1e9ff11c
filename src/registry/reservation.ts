import type { KubeObject } from '../machinery/kube-object.js';
import type { Revision } from '../machinery/revision.js';
import type { Compare, KeyValue, Write } from '../storage/kv-store.js';
import type { RequestContext } from './request-context.js';

/**
 * What a write of an object takes from outside of it, and gives back: keys of the store that change in the transaction
 * of the write, or not at all. So nothing has to be undone when a write fails, and nothing leaks when a server dies.
 */
export interface Reservation {
  readonly compares: readonly Compare[];
  readonly writes: readonly Write[];
  /** The write was made. Its answer waits for what this still has to give back; it never rejects. */
  made(revision: Revision): void | Promise<void>;
  /** Another writer was faster: what the store holds under the compared keys. The write begins again. */
  lost(current: readonly (KeyValue | undefined)[], revision: Revision): void;
  /** Called once in the end, whatever became of the write. */
  end(): void;
}

/**
 * Decides what a write takes. It may fill in fields of `next`, and throws an ApiError where the object asks for what it
 * cannot have. `next` is undefined when the object goes, `old` when it is new. Nothing is taken in a dry run, but fields
 * are filled in.
 */
export type Reserve = (
  next: KubeObject | undefined,
  old: KubeObject | undefined,
  request: RequestContext,
) => Promise<Reservation | undefined>;
