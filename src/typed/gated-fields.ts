import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import type { Field, FieldType, StructType } from '../machinery/type-model.js';
import { Reach } from './reach.js';

/** A gated field, or one with gated fields inside. */
interface Step {
  readonly field: Field;
  readonly isDropped: boolean;
  readonly isBelow: boolean;
}

/**
 * Fields of disabled feature gates: they are dropped from new objects, but an object that already uses one may keep it.
 */
export class GatedFields {
  private readonly reach: Reach;
  private readonly plans = new WeakMap<StructType, readonly Step[]>();

  constructor(private readonly isOff: (gate: string) => boolean) {
    this.reach = new Reach((type) => [...type.byName.values()].some((field) => this.isDropped(field)));
  }

  /** Drops them in place, unless `old` uses them. */
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

  /** Calls `found` for every gated field that is set, with the object that contains it. */
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
    for (const { field, isDropped, isBelow } of this.planOf(type)) {
      const inner = value[field.name];
      if (inner === undefined || inner === null) continue;
      if (isDropped) found(value, field);
      if (isBelow) this.visit(inner, field.type, found);
    }
  }

  private planOf(type: StructType): readonly Step[] {
    let plan = this.plans.get(type);
    if (plan === undefined) {
      plan = [...type.byName.values()]
        .map((field) => ({ field, isDropped: this.isDropped(field), isBelow: this.reach.below(field.type) }))
        .filter(({ isDropped, isBelow }) => isDropped || isBelow);
      this.plans.set(type, plan);
    }
    return plan;
  }
}
