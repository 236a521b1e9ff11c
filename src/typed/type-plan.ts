import { assert } from '../std/assert.js';
import type { JsonValue } from '../machinery/kube-object.js';
import type { Field, FieldType, ScalarType, StructType, ValueName } from '../machinery/type-model.js';

/**
 * Types compiled for conform(): one class for all of them, with decisions precomputed. A struct's plan is compiled on
 * first use.
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

  /** The value for null or absent. A new one each time, since the object may be changed. */
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

/** Treatment of an empty string, number, list or map. */
type Empty = 'kept' | 'dropped' | 'null';

export class FieldPlan {
  readonly name: string;
  readonly type: TypePlan;
  readonly empty: Empty;
  /** True if Go writes the field in every object. */
  readonly isAlwaysWritten: boolean;
  /** True if defaulting tells an empty list from an absent one, though neither is written. */
  readonly tellsEmptyFromAbsent: boolean;
  private readonly isNullable: boolean;

  constructor(field: Field, owner: StructType) {
    this.name = field.name;
    this.type = new TypePlan(field.type);
    const { form } = this.type;
    const isCollection = form === 'list' || form === 'map';
    const isLeft = field.omitsEmpty && (!isStructured(form) || omitsZero(field, owner));
    this.tellsEmptyFromAbsent = hasMeaningfulEmpty(field, owner);
    this.isNullable = field.isPointer || form === 'bytes';
    this.isAlwaysWritten = !isLeft && !(field.isPointer && field.omitsEmpty);
    this.empty = field.isPointer || isStructured(form) ? 'kept' : isLeft ? 'dropped' : isCollection ? 'null' : 'kept';
  }

  /** The value for a field that is absent or null. */
  absent(): JsonValue | undefined {
    if (!this.isAlwaysWritten) return undefined;
    return this.isNullable ? null : this.type.zero();
  }
}

/** True for structs in Go, whatever they are in JSON: they have no empty value that `omitempty` would omit. */
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

/** The one time field with `omitzero`. */
function omitsZero(field: Field, owner: StructType): boolean {
  return owner.name === 'meta.v1.ObjectMeta' && field.name === 'creationTimestamp';
}

/** HorizontalPodAutoscaler policies: absent means the default ones, an empty list is an error. */
function hasMeaningfulEmpty(field: Field, owner: StructType): boolean {
  return owner.name === 'autoscaling.v2.HPAScalingRules' && field.name === 'policies';
}

export class StructPlan {
  /** Name in Go's messages: `PodSpec`. */
  readonly shortName: string;
  readonly fields: ReadonlyMap<string, FieldPlan>;
  readonly alwaysWritten: readonly FieldPlan[];

  constructor(type: StructType) {
    this.shortName = type.goName.slice(type.goName.lastIndexOf('.') + 1);
    const fields = new Map<string, FieldPlan>();
    for (const [name, field] of type.byName) fields.set(name, new FieldPlan(field, type));
    this.fields = fields;
    this.alwaysWritten = [...fields.values()].filter(({ isAlwaysWritten }) => isAlwaysWritten);
  }

  zero(): { [key: string]: JsonValue } {
    const value: { [key: string]: JsonValue } = {};
    for (const field of this.alwaysWritten) value[field.name] = field.absent()!;
    return value;
  }
}

const plans = new WeakMap<StructType, StructPlan>();

export function planOf(type: StructType): StructPlan {
  let plan = plans.get(type);
  if (plan === undefined) plans.set(type, (plan = new StructPlan(type)));
  return plan;
}
