import { isJsonObject, type JsonObject, type JsonValue } from '../machinery/kube-object.js';
import { putOwn } from '../machinery/put-own.js';
import type { StructType } from '../machinery/type-model.js';
import { canonicalBase64 } from './base64.js';
import { ConformError } from './conform-error.js';
import { planOf, type FieldPlan, type StructPlan, type TypePlan } from './type-plan.js';
import { canonicalValue, given, int32Of, int64Of, mismatchOf } from './values.js';
import { wellFormed } from './well-formed.js';

/** What was made of a submitted object. */
export interface Conformed {
  /** New in every part but the free-form ones: it may be changed, the submitted one stays as it is. */
  readonly object: JsonObject;
  /** Paths of fields that the type does not have, in the order of the document: `spec.containers[0].imagee`. */
  readonly unknownFields: readonly string[];
}

export interface ConformOptions {
  /** Lists and maps that are always written stay empty where they were given so, see empties.ts. */
  readonly keepsEmpties?: boolean;
  /** Unknown fields of schemas that stand where something simpler may stand are told of, too. */
  readonly findsNested?: boolean;
}

/** More are not told. */
export const findingsMax = 100;
/** Nesting; decoders have a bound of their own, values from elsewhere may not. */
const depthMax = 1000;

/**
 * The object as a typed server holds it: every value of its field's type and in its canonical form, nothing unknown,
 * nothing empty that would not be written, everything that always is. Throws ConformError when a value has another
 * type; as in Go, a value that its type itself refuses comes before one of another JSON type.
 */
export function conform(
  value: JsonValue | undefined,
  type: StructType,
  { keepsEmpties = false, findsNested = false }: ConformOptions = {},
): Conformed {
  const plan = planOf(type);
  const walk = new Walk(0, keepsEmpties, findsNested);
  if (value === null || value === undefined) return { object: plan.zero(), unknownFields: walk.unknown };
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new ConformError(`json: cannot unmarshal ${given(value)} into Go value of type ${type.goName}`);
  }
  const object = walk.struct(plan, value);
  if (walk.error) throw walk.error;
  return { object, unknownFields: walk.unknown };
}

/** What a step of the path is; everything from zero on is the index of an item. */
const fieldStep = -1;
const keyStep = -2;

class Walk {
  readonly unknown: string[] = [];
  error: ConformError | undefined = undefined;
  private readonly names: string[] = [];
  private readonly steps: number[] = [];

  constructor(
    private depth: number,
    private readonly keepsEmpties: boolean,
    private readonly findsNested: boolean,
  ) {}

  struct(plan: StructPlan, input: JsonObject): JsonObject {
    if (++this.depth > depthMax) throw new ConformError('exceeded max depth');
    const output: JsonObject = {};
    let always = 0;
    for (const name in input) {
      const field = plan.fields.get(name);
      if (field === undefined) {
        this.foundUnknown(name);
        continue;
      }
      const value = this.field(field, input[name], plan);
      if (value === undefined) continue;
      output[name] = value;
      if (field.isAlways) always++;
    }
    if (always !== plan.always.length) {
      for (const field of plan.always) if (output[field.name] === undefined) output[field.name] = field.absent()!;
    }
    this.depth--;
    return output;
  }

  private field(field: FieldPlan, input: JsonValue | undefined, owner: StructPlan): JsonValue | undefined {
    if (input === null || input === undefined) return field.absent();
    const { type, empty } = field;
    // Most values are texts, and need no path.
    if (typeof input === 'string' && type.form === 'string') {
      return input === '' && empty === 'dropped' ? undefined : wellFormed(input);
    }
    this.names.push(field.name);
    this.steps.push(fieldStep);
    const value = this.value(type, input, owner);
    this.names.pop();
    this.steps.pop();
    if (value === null) return field.absent();
    if (empty === 'kept' || value === undefined || !isEmpty(value)) return value;
    if (this.keepsEmpties && (empty === 'null' || field.isHeard)) return value;
    return empty === 'null' ? null : undefined;
  }

  /** Undefined when the value is of another type, which is remembered: something worse may follow. */
  private value(type: TypePlan, input: JsonValue, owner: StructPlan): JsonValue | undefined {
    switch (type.form) {
      case 'string':
        if (typeof input === 'string') return wellFormed(input);
        break;
      case 'struct':
        if (isJsonObject(input)) return this.struct(type.struct, input);
        break;
      case 'list':
        if (Array.isArray(input)) return this.list(type.of!, input, owner);
        break;
      case 'map':
        if (isJsonObject(input)) return this.map(type.of!, input, owner);
        break;
      case 'int32': {
        const number = int32Of(input);
        if (number !== undefined) return number;
        break;
      }
      case 'bool':
        if (typeof input === 'boolean') return input;
        break;
      case 'int64': {
        const number = int64Of(input);
        if (number !== undefined) return number;
        break;
      }
      case 'float64':
        if (typeof input === 'number') return input;
        if (typeof input === 'bigint') return Number(input);
        break;
      case 'bytes':
        return this.bytes(input, owner);
      case 'rawExtension':
      case 'fieldsV1':
      case 'json':
        return input;
      case 'schemaOrBool':
      case 'schemaOrArray':
      case 'schemaOrStrings':
        return this.schemaOr(type, input, owner);
      default:
        return this.canonical(type, input, owner);
    }
    this.error ??= this.misfit(owner, input, type);
    return undefined;
  }

  private list(of: TypePlan, input: readonly JsonValue[], owner: StructPlan): JsonValue[] {
    if (++this.depth > depthMax) throw new ConformError('exceeded max depth');
    const output: JsonValue[] = [];
    const at = this.steps.length;
    this.names.push('');
    this.steps.push(0);
    for (let index = 0; index < input.length; index++) {
      const item = input[index]!;
      this.steps[at] = index;
      output.push(item === null ? of.zero() : this.value(of, item, owner)!);
    }
    this.names.pop();
    this.steps.pop();
    this.depth--;
    return output;
  }

  private map(of: TypePlan, input: JsonObject, owner: StructPlan): JsonObject {
    if (++this.depth > depthMax) throw new ConformError('exceeded max depth');
    const output: JsonObject = {};
    const at = this.steps.length;
    this.names.push('');
    this.steps.push(keyStep);
    for (const key in input) {
      const item = input[key]!;
      this.names[at] = key;
      const value = item === null ? of.zero() : this.value(of, item, owner)!;
      putOwn(output, wellFormed(key), value);
    }
    this.names.pop();
    this.steps.pop();
    this.depth--;
    return output;
  }

  private bytes(input: JsonValue, owner: StructPlan): JsonValue | undefined {
    if (typeof input === 'string') {
      const read = canonicalBase64(input);
      if ('text' in read) return read.text;
      this.error ??= new ConformError(`illegal base64 data at input byte ${read.badByteAt}`);
      return undefined;
    }
    // A list of numbers is a list of bytes as well.
    if (Array.isArray(input)) {
      for (const item of input) {
        if (typeof item === 'number' && Number.isInteger(item) && item >= 0 && item <= 255) continue;
        if (item !== null) this.error ??= this.mismatch(owner, given(item, true), 'uint8');
      }
      return Buffer.from(input.map((item) => (typeof item === 'number' ? item : 0))).toString('base64');
    }
    this.error ??= this.mismatch(owner, given(input), '[]uint8');
    return undefined;
  }

  /** Fields of a schema that are a schema or something simpler. The schema in them is of the type that has the field. */
  private schemaOr(type: TypePlan, input: JsonValue, schema: StructPlan): JsonValue {
    if (isJsonObject(input)) return this.schema(input, schema);
    if (type.form === 'schemaOrBool') {
      if (typeof input === 'boolean') return input;
      throw new ConformError('boolean or JSON schema expected');
    }
    if (!Array.isArray(input) || input.length === 0) return null;
    if (type.form === 'schemaOrArray') {
      return input.map((item) => {
        if (item === null) return schema.zero();
        if (isJsonObject(item)) return this.schema(item, schema);
        throw this.mismatch(schema, given(item), `v1.${schema.shortName}`);
      });
    }
    return input.map((item) => {
      if (item === null) return '';
      if (typeof item === 'string') return wellFormed(item);
      throw this.mismatch(schema, given(item), 'string');
    });
  }

  /** Read by itself: what is unknown in it is dropped without a word, and a misfit in it is told of the outer field. */
  private schema(input: JsonObject, plan: StructPlan): JsonObject {
    const inner = new Walk(this.depth, this.keepsEmpties, this.findsNested);
    try {
      const output = inner.struct(plan, input);
      if (inner.error) throw inner.error;
      if (this.findsNested) for (const name of inner.unknown) this.foundUnknown(name);
      return output;
    } catch (error) {
      throw this.located(plan, error);
    }
  }

  private canonical(type: TypePlan, input: JsonValue, owner: StructPlan): JsonValue {
    try {
      return canonicalValue(type.form, input);
    } catch (error) {
      throw this.located(owner, error);
    }
  }

  private located(owner: StructPlan, error: unknown): unknown {
    const found = error instanceof ConformError ? error.mismatch : undefined;
    return found ? this.mismatch(owner, found.given, found.wanted) : error;
  }

  private misfit(owner: StructPlan, input: JsonValue, type: TypePlan): ConformError {
    const { given: what, wanted } = mismatchOf(input, type);
    return this.mismatch(owner, what, wanted);
  }

  /** Go names the fields on the way, not the indexes and keys. */
  private mismatch(owner: StructPlan, what: string, wanted: string): ConformError {
    const path = this.names.filter((_, at) => this.steps[at] === fieldStep).join('.');
    return new ConformError(
      `json: cannot unmarshal ${what} into Go struct field ${owner.shortName}.${path} of type ${wanted}`,
      { given: what, wanted },
    );
  }

  private foundUnknown(name: string): void {
    if (this.unknown.length >= findingsMax) return;
    let path = '';
    for (let at = 0; at < this.names.length; at++) {
      const step = this.steps[at]!;
      path += step >= 0 ? `[${step}]` : path === '' ? this.names[at]! : `.${this.names[at]!}`;
    }
    this.unknown.push(path === '' ? name : `${path}.${name}`);
  }
}

function isEmpty(value: Exclude<JsonValue, null>): boolean {
  if (typeof value !== 'object') return value === '' || value === 0 || value === false;
  if (Array.isArray(value)) return value.length === 0;
  for (const _key in value) return false;
  return true;
}
