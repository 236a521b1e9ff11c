import { assert } from '../std/assert.js';
import type { JsonValue } from '../machinery/kube-object.js';
import type { Field, FieldType, ScalarType, StructType, ValueName } from '../machinery/type-model.js';

/**
 * Types made ready for the walk over an object: one class for all of them, what depends on several facts decided once.
 * A struct's plan is made when the first object reaches it.
 */
export type Form = ScalarType['scalar'] | ValueName | 'struct' | 'list' | 'map';

export class TypePlan {
  readonly form: Form;
  readonly goName: string;
  readonly of: TypePlan | undefined;
  private readonly structType: StructType | undefined;
  private structPlan: StructPlan | undefined = undefined;

  constructor(type: FieldType) {
    this.form = type.form === 'scalar' ? type.scalar : type.form === 'value' ? type.value : type.form;
    this.goName = type.goName;
    this.of = type.form === 'list' || type.form === 'map' ? new TypePlan(type.of) : undefined;
    this.structType = type.form === 'struct' ? type : undefined;
  }

  get struct(): StructPlan {
    if (this.structPlan === undefined) {
      assert(this.structType !== undefined, `${this.goName} is no struct`);
      this.structPlan = planOf(this.structType);
    }
    return this.structPlan;
  }

  /** What stands in an object where nothing was given. Made anew: the object may be changed. */
  zero(): JsonValue {
    switch (this.form) {
      case 'struct':
        return this.struct.zero();
      case 'string':
      case 'bytes':
        return '';
      case 'bool':
      case 'schemaOrBool':
        return false;
      case 'int32':
      case 'int64':
      case 'float64':
      case 'intOrString':
        return 0;
      case 'quantity':
        return '0';
      case 'duration':
        return '0s';
      default:
        return null;
    }
  }
}

/** What becomes of an empty value: text, number, list or map. */
type Empty = 'kept' | 'dropped' | 'null';

export class FieldPlan {
  readonly name: string;
  readonly type: TypePlan;
  readonly empty: Empty;
  /** Stands in every object, whether it was given or not. */
  readonly isAlways: boolean;
  /** Defaults tell an empty list from none, though neither is written. */
  readonly isHeard: boolean;
  private readonly isNullable: boolean;

  constructor(field: Field, owner: StructType) {
    this.name = field.name;
    this.type = new TypePlan(field.type);
    const { form } = this.type;
    const isCollection = form === 'list' || form === 'map';
    const isLeft = field.omitsEmpty && (!isStructured(form) || leavesOutZero(field, owner));
    this.isHeard = hearsEmpty(field, owner);
    this.isNullable = field.isPointer || form === 'bytes';
    this.isAlways = !isLeft && !(field.isPointer && field.omitsEmpty);
    this.empty = field.isPointer || isStructured(form) ? 'kept' : isLeft ? 'dropped' : isCollection ? 'null' : 'kept';
  }

  /** What stands in the object for a field that was not given or is null. */
  absent(): JsonValue | undefined {
    if (!this.isAlways) return undefined;
    return this.isNullable ? null : this.type.zero();
  }
}

/** Structs in Go, whatever they are in JSON: those have no empty value that could be left out. */
function isStructured(form: Form): boolean {
  switch (form) {
    case 'string':
    case 'bytes':
    case 'bool':
    case 'int32':
    case 'int64':
    case 'float64':
    case 'list':
    case 'map':
      return false;
    default:
      return true;
  }
}

/** The one time that is left out of objects while it is zero, by a mark of its own (`omitzero`). */
function leavesOutZero(field: Field, owner: StructType): boolean {
  return owner.name === 'meta.v1.ObjectMeta' && field.name === 'creationTimestamp';
}

/** Who gives no policies asks for the usual ones, who gives an empty list is refused. */
function hearsEmpty(field: Field, owner: StructType): boolean {
  return owner.name === 'autoscaling.v2.HPAScalingRules' && field.name === 'policies';
}

export class StructPlan {
  /** As Go's messages call it: `PodSpec`. */
  readonly shortName: string;
  readonly fields: ReadonlyMap<string, FieldPlan>;
  readonly always: readonly FieldPlan[];

  constructor(type: StructType) {
    this.shortName = type.goName.slice(type.goName.lastIndexOf('.') + 1);
    const fields = new Map<string, FieldPlan>();
    for (const [name, field] of type.byName) fields.set(name, new FieldPlan(field, type));
    this.fields = fields;
    this.always = [...fields.values()].filter(({ isAlways }) => isAlways);
  }

  zero(): { [key: string]: JsonValue } {
    const value: { [key: string]: JsonValue } = {};
    for (const field of this.always) value[field.name] = field.absent()!;
    return value;
  }
}

const plans = new WeakMap<StructType, StructPlan>();

export function planOf(type: StructType): StructPlan {
  let plan = plans.get(type);
  if (plan === undefined) plans.set(type, (plan = new StructPlan(type)));
  return plan;
}
