import { compareUtf8 } from '../std/compare-utf8.js';
import type { SortedView } from '../std/sorted-map.js';
import type { CacheEvent } from './cache-event.js';
import type { EncodedObject } from './encoded-object.js';
import type { FieldEquality } from './snapshot.js';

/** A list of fewer objects is scanned without an index. */
const indexedObjectsMin = 512;
/** An index is used only if it excludes most objects, since its result must be sorted. */
const indexedShareMax = 1 / 8;
/** More than the selectable fields of any kind. */
const fieldIndexesMax = 16;

/** Indexes of one resource by selectable field. The first list by a field creates its index; later events update it. */
export class FieldIndexes {
  private readonly byField = new Map<string, FieldIndex>();

  update(event: CacheEvent): void {
    for (const index of this.byField.values()) index.update(event);
  }

  clear(): void {
    this.byField.clear();
  }

  /**
   * Returns a superset of the objects in `state` with these field values, in key order; undefined if scanning is
   * cheaper.
   */
  range(
    state: SortedView<EncodedObject>,
    equalities: readonly FieldEquality[],
    prefix: string,
    from: string,
  ): EncodedObject[] | undefined {
    if (equalities.length === 0 || state.size < indexedObjectsMin) return undefined;
    let narrowest: { index: FieldIndex; value: string; count: number } | undefined;
    for (const { field, value } of equalities) {
      const index = this.indexOf(field, state);
      const count = index?.count(value) ?? Infinity;
      if (index && count < (narrowest?.count ?? Infinity)) narrowest = { index, value, count };
    }
    if (!narrowest || narrowest.count > state.count(prefix, from) * indexedShareMax) return undefined;
    return narrowest.index.range(narrowest.value, prefix, from);
  }

  private indexOf(field: string, state: SortedView<EncodedObject>): FieldIndex | undefined {
    if (field === 'metadata.name' || field === 'metadata.namespace') return undefined;
    let index = this.byField.get(field);
    if (!index && this.byField.size < fieldIndexesMax) {
      index = new FieldIndex(field, state.range(''));
      this.byField.set(field, index);
    }
    return index;
  }
}

/** The readable objects of one resource, by the value of one field. */
class FieldIndex {
  private readonly byValue = new Map<string, Map<string, EncodedObject>>();

  constructor(
    private readonly field: string,
    objects: Iterable<EncodedObject>,
  ) {
    for (const object of objects) this.add(object);
  }

  update({ key, previous, current }: CacheEvent): void {
    if (previous && (!current || this.valueOf(previous) !== this.valueOf(current))) this.remove(key, previous);
    if (current) this.add(current);
  }

  /** Returns the number of objects whose field has the value. */
  count(value: string): number {
    return this.byValue.get(value)?.size ?? 0;
  }

  /**
   * Returns the objects whose field has the value and whose key starts with `prefix` and is not below `from`, in key
   * order.
   */
  range(value: string, prefix: string, from: string): EncodedObject[] {
    const found: EncodedObject[] = [];
    for (const object of this.byValue.get(value)?.values() ?? []) {
      if (object.key.startsWith(prefix) && compareUtf8(object.key, from) >= 0) found.push(object);
    }
    return found.sort((a, b) => compareUtf8(a.key, b.key));
  }

  private valueOf(object: EncodedObject): string | undefined {
    return object.corruption ? undefined : (object.attributes.fields[this.field] ?? '');
  }

  private add(object: EncodedObject): void {
    const value = this.valueOf(object);
    if (value === undefined) return;
    let objects = this.byValue.get(value);
    if (!objects) this.byValue.set(value, (objects = new Map<string, EncodedObject>()));
    objects.set(object.key, object);
  }

  private remove(key: string, object: EncodedObject): void {
    const value = this.valueOf(object);
    if (value === undefined) return;
    const objects = this.byValue.get(value);
    objects?.delete(key);
    if (objects?.size === 0) this.byValue.delete(value);
  }
}
