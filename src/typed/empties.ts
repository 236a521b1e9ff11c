import type { JsonObject, JsonValue } from '../machinery/kube-object.js';
import type { Field, FieldType, StructType } from '../machinery/type-model.js';
import { Reach } from './reach.js';

/**
 * Lists and maps that Go writes even if empty: a client that sends `[]` owns the field. Once ownership is recorded,
 * empty equals absent.
 */
interface Plan {
  readonly always: readonly string[];
  readonly below: readonly { readonly name: string; readonly type: FieldType }[];
}

const isAlwaysWritten = ({ type, omitsEmpty, isPointer }: Field): boolean =>
  !omitsEmpty && !isPointer && (type.form === 'list' || type.form === 'map');

const reach = new Reach((type) => [...type.byName.values()].some(isAlwaysWritten));
const plans = new WeakMap<StructType, Plan>();

/** Makes empty lists and maps null or absent, in place. */
export function dropEmpties(object: JsonObject, type: StructType): void {
  if (reach.below(type)) forget(object, planOf(type));
}

function planOf(type: StructType): Plan {
  let plan = plans.get(type);
  if (plan === undefined) {
    const fields = [...type.byName.values()];
    plan = {
      always: fields.filter(isAlwaysWritten).map(({ name }) => name),
      below: fields.filter((field) => reach.below(field.type)).map(({ name, type }) => ({ name, type })),
    };
    plans.set(type, plan);
  }
  return plan;
}

function forget(object: JsonObject, plan: Plan): void {
  for (const name of plan.always) if (isEmpty(object[name])) object[name] = null;
  for (const { name, type } of plan.below) forgetIn(object[name], type);
}

function forgetIn(value: JsonValue | undefined, type: FieldType): void {
  if (typeof value !== 'object' || value === null) return;
  if (type.form === 'struct') {
    if (!Array.isArray(value)) forget(value, planOf(type));
  } else if (type.form === 'list') {
    if (Array.isArray(value)) for (const item of value) forgetIn(item, type.of);
  } else if (type.form === 'map' && !Array.isArray(value)) {
    for (const key in value) forgetIn(value[key], type.of);
  }
}

function isEmpty(value: JsonValue | undefined): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.length === 0;
  for (const _key in value) return false;
  return true;
}
