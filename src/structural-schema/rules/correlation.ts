import { deepEqual } from '../../machinery/deep-equal.js';
import { isJsonObject, type JsonValue } from '../../machinery/kube-object.js';
import { valueKey } from '../../machinery/value-key.js';
import { itemKey } from '../list-keys.js';
import type { RuleTree } from './rule-tree.js';

/** A value and the old value at the same path, compared at most once. */
export class ValuePair {
  private isSame: boolean | undefined;

  constructor(
    readonly value: JsonValue,
    readonly old: JsonValue,
  ) {}

  get isUnchanged(): boolean {
    return (this.isSame ??= deepEqual(this.value, this.old));
  }
}

/**
 * The old value of a value, or of the nearest value around it that has one: an item of an atomic list has none, and its
 * errors are ignored if the whole list is unchanged.
 */
export class Correlation {
  constructor(
    readonly pair: ValuePair | undefined,
    private readonly around: ValuePair | undefined,
    private readonly isRoot = false,
  ) {}

  /** True if errors of this value are ignored, since it has not changed. */
  get isUnchanged(): boolean {
    return (this.pair ?? this.around)?.isUnchanged === true;
  }

  field(name: string, value: JsonValue, { isGranular }: RuleTree): Correlation {
    if (!this.pair) return this;
    // Both objects were converted to the requested version, so that a change of these fields cannot be seen.
    if (this.isRoot && (name === 'apiVersion' || name === 'kind')) return uncorrelated;
    const { old } = this.pair;
    const hasOld = isGranular && isJsonObject(old) && Object.hasOwn(old, name);
    return new Correlation(hasOld ? new ValuePair(value, old[name]!) : undefined, this.pair);
  }

  /** Returns the correlation of the items of a list. */
  items({ listKeys }: RuleTree): (item: JsonValue) => Correlation {
    const { pair } = this;
    if (!pair) return () => this;
    const atomic = new Correlation(undefined, pair);
    if (!listKeys || !Array.isArray(pair.old)) return () => atomic;
    const keyOf = (item: JsonValue) => valueKey(itemKey(item, listKeys));
    const byKey = new Map(pair.old.map((item) => [keyOf(item), item]));
    return (item) => {
      const old = byKey.get(keyOf(item));
      return old === undefined ? atomic : new Correlation(new ValuePair(item, old), pair);
    };
  }
}

export const uncorrelated = new Correlation(undefined, undefined);
