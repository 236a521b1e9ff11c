import type { FieldType, StructType } from '../machinery/type-model.js';

/** Tells whether a type, or one inside it, has a property, so that walks skip the others. */
export class Reach {
  private readonly known = new WeakMap<StructType, boolean>();

  constructor(private readonly isIn: (type: StructType) => boolean) {}

  below(type: FieldType): boolean {
    if (type.form === 'list' || type.form === 'map') return this.below(type.of);
    if (type.form !== 'struct') return false;
    let known = this.known.get(type);
    if (known === undefined) this.known.set(type, (known = this.search(type, new Set())));
    return known;
  }

  private search(type: FieldType, seen: Set<StructType>): boolean {
    if (type.form === 'list' || type.form === 'map') return this.search(type.of, seen);
    if (type.form !== 'struct' || seen.has(type)) return false;
    const known = this.known.get(type);
    if (known !== undefined) return known;
    seen.add(type);
    if (this.isIn(type)) return true;
    for (const field of type.byName.values()) if (this.search(field.type, seen)) return true;
    return false;
  }
}
