import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import type { Field, FieldType, StructType } from '../machinery/type-model.js';
import { Reach } from './reach.js';

/**
 * Fields of features that are switched off: nobody gets them into an object, but an object that has one of them, from
 * a time when the feature was on, may go on to have it. Gates that the server does not know are no reason to drop.
 */
export class GatedFields {
  private readonly reach: Reach;

  constructor(private readonly isOff: (gate: string) => boolean) {
    this.reach = new Reach((type) => [...type.byName.values()].some((field) => this.isDropped(field)));
  }

  /** Drops them from the object itself; `old` is what was there before. */
  drop(object: JsonObject, old: JsonObject | undefined, type: StructType): void {
    if (!this.reach.below(type)) return;
    const used = new Set<Field>();
    if (old) this.visit(old, type, (_owner, field) => void used.add(field));
    this.visit(object, type, (owner, field) => {
      if (!used.has(field)) delete owner[field.name];
    });
  }

  private isDropped({ gates }: Field): boolean {
    return gates.some(this.isOff);
  }

  /** Every switched-off field that is set, with what it is in. */
  private visit(value: JsonValue | undefined, type: FieldType, found: (owner: JsonObject, field: Field) => void): void {
    if (typeof value !== 'object' || value === null) return;
    switch (type.form) {
      case 'struct':
        if (!Array.isArray(value)) this.visitStruct(value, type, found);
        break;
      case 'list':
        if (Array.isArray(value)) for (const item of value) this.visit(item, type.of, found);
        break;
      case 'map':
        if (!Array.isArray(value)) for (const key in value) this.visit(value[key], type.of, found);
        break;
    }
  }

  private visitStruct(value: JsonObject, type: StructType, found: (owner: JsonObject, field: Field) => void): void {
    for (const name in value) {
      const field = type.byName.get(name);
      if (field === undefined || value[name] === null) continue;
      if (this.isDropped(field)) found(value, field);
      if (this.reach.below(field.type)) this.visit(value[name], field.type, found);
    }
  }
}
