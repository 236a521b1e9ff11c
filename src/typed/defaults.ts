import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import type { Field, FieldType, StructType } from '../machinery/type-model.js';
import { Reach } from './reach.js';

/** Defaults declared on the fields of types. Defaults of a kind that depend on other fields are in its strategy. */
interface Plan {
  readonly defaults: readonly Default[];
  readonly below: readonly Below[];
}
interface Default {
  readonly name: string;
  readonly value: JsonValue;
  /** True if zero is a value of its own (pointer fields). */
  readonly keepsZero: boolean;
}
/** A field with defaults inside it. */
interface Below {
  readonly name: string;
  readonly type: FieldType;
}

/** Sets the declared defaults in place. Idempotent. */
export function applyDefaults(object: JsonObject, type: StructType): void {
  if (reach.below(type)) fill(object, planOf(type));
}

const hasDefault = (field: Field): boolean =>
  field.default !== undefined && !(isZero(field.default) && !field.isPointer);
const reach = new Reach((type) => [...type.byName.values()].some(hasDefault));
const plans = new WeakMap<StructType, Plan>();

function planOf(type: StructType): Plan {
  let plan = plans.get(type);
  if (plan === undefined) {
    const fields = [...type.byName.values()];
    plan = {
      defaults: fields
        .filter(hasDefault)
        .map((field) => ({ name: field.name, value: field.default!, keepsZero: field.isPointer })),
      below: fields.filter((field) => reach.below(field.type)).map((field) => ({ name: field.name, type: field.type })),
    };
    plans.set(type, plan);
  }
  return plan;
}

function fill(object: JsonObject, plan: Plan): void {
  for (const { name, value, keepsZero } of plan.defaults) {
    const found = object[name];
    if (found === undefined || found === null || (!keepsZero && isZero(found))) object[name] = structuredClone(value);
  }
  for (const { name, type } of plan.below) fillValue(object[name], type);
}

function fillValue(value: JsonValue | undefined, type: FieldType): void {
  if (typeof value !== 'object' || value === null) return;
  switch (type.form) {
    case 'struct':
      if (!Array.isArray(value)) fill(value, planOf(type));
      break;
    case 'list':
      if (Array.isArray(value)) for (const item of value) fillValue(item, type.of);
      break;
    case 'map':
      if (!Array.isArray(value)) for (const key in value) fillValue(value[key], type.of);
      break;
  }
}

function isZero(value: JsonValue): boolean {
  return value === '' || value === 0 || value === false;
}
