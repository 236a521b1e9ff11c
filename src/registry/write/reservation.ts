import type { KubeObject } from '../../machinery/kube-object.js';
import type { Revision } from '../../machinery/revision.js';
import type { Compare, KeyValue, Write } from '../../storage/kv-store.js';
import type { RequestContext } from '../request-context.js';

/**
 * Keys outside of an object (allocated IP addresses, node ports) that change in the same transaction as the object, or
 * not at all. A failed write needs no rollback, and a crash leaks nothing.
 */
export interface Reservation {
  readonly compares: readonly Compare[];
  readonly writes: readonly Write[];
  /** Called after the transaction succeeded. The response waits for the returned promise, which must not reject. */
  committed(revision: Revision): void | Promise<void>;
  /**
   * Called when a compared key had another revision, with the stored values of all compared keys. The write is retried.
   */
  conflicted(current: readonly (KeyValue | undefined)[], revision: Revision): void;
  /** Called once at the end of every attempt, successful or not. */
  end(): void;
}

/**
 * Computes the reservation of a write. May fill in fields of `next` (clusterIP, nodePort), and throws an ApiError if a
 * requested value is not available. `next` is undefined for a delete, `old` for a create. A dry run fills in fields and
 * reserves nothing.
 */
export type Reserve = (
  next: KubeObject | undefined,
  old: KubeObject | undefined,
  request: RequestContext,
) => Promise<Reservation | undefined>;
