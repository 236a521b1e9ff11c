import type { Revision } from '../machinery/revision.js';
import type { SortedView } from '../std/sorted-map.js';
import type { EncodedObject } from './encoded-object.js';

/** A resource as it was at one revision. It costs nothing to take and nothing to keep for a while. */
export interface Snapshot {
  readonly revision: Revision;
  readonly size: number;
  get(key: string): EncodedObject | undefined;
  /** Objects whose keys start with `prefix`, from the key `from` (inclusive) on; in the logarithm of the size. */
  count(prefix: string, from?: string): number;
  range(prefix: string, from?: string): Iterable<EncodedObject>;
  /**
   * The part of range() whose fields have these values, or more of it, where an index answers that in less time than
   * range() takes. Undefined otherwise.
   */
  rangeByFields(
    equalities: readonly FieldEquality[],
    prefix: string,
    from?: string,
  ): Iterable<EncodedObject> | undefined;
}

export interface FieldEquality {
  readonly field: string;
  readonly value: string;
}

/** Finds the smallest index that answers for a present state. */
export type RangeByFields = Snapshot['rangeByFields'];

export class StateSnapshot implements Snapshot {
  constructor(
    readonly revision: Revision,
    private readonly state: SortedView<EncodedObject>,
    readonly rangeByFields: RangeByFields = () => undefined,
  ) {}

  get size(): number {
    return this.state.size;
  }

  get(key: string): EncodedObject | undefined {
    return this.state.get(key);
  }

  count(prefix: string, from?: string): number {
    return this.state.count(prefix, from);
  }

  range(prefix: string, from?: string): IterableIterator<EncodedObject> {
    return this.state.range(prefix, from);
  }
}
