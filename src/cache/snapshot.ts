import type { Revision } from '../machinery/revision.js';
import type { SortedView } from '../std/sorted-map.js';
import type { EncodedObject } from './encoded-object.js';

/** The state of a resource at one revision. Taking and keeping one costs little memory. */
export interface Snapshot {
  readonly revision: Revision;
  readonly size: number;
  get(key: string): EncodedObject | undefined;
  /** Returns the number of keys with `prefix`, from the key `from` (inclusive) on, in O(log n). */
  count(prefix: string, from?: string): number;
  range(prefix: string, from?: string): Iterable<EncodedObject>;
  /**
   * Returns the objects of range() whose fields have these values, or a superset, if an index finds them faster than
   * range(). Returns undefined otherwise.
   */
  rangeByFields(
    equalities: readonly FieldEquality[],
    prefix: string,
    from?: string,
  ): Iterable<EncodedObject> | undefined;
  /** Like rangeByFields(), for labels. */
  rangeByLabels(
    equalities: readonly LabelEquality[],
    prefix: string,
    from?: string,
  ): Iterable<EncodedObject> | undefined;
}

export interface FieldEquality {
  readonly field: string;
  readonly value: string;
}

export interface LabelEquality {
  readonly label: string;
  readonly value: string;
}

/** Find the smallest index for the current state. */
type Indexes = Pick<Snapshot, 'rangeByFields' | 'rangeByLabels'>;

const noIndexes: Indexes = { rangeByFields: () => undefined, rangeByLabels: () => undefined };

export class StateSnapshot implements Snapshot {
  constructor(
    readonly revision: Revision,
    private readonly state: SortedView<EncodedObject>,
    private readonly indexes: Indexes = noIndexes,
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

  rangeByFields(
    equalities: readonly FieldEquality[],
    prefix: string,
    from?: string,
  ): Iterable<EncodedObject> | undefined {
    return this.indexes.rangeByFields(equalities, prefix, from);
  }

  rangeByLabels(
    equalities: readonly LabelEquality[],
    prefix: string,
    from?: string,
  ): Iterable<EncodedObject> | undefined {
    return this.indexes.rangeByLabels(equalities, prefix, from);
  }
}
