import { isJsonObject, type JsonObject, type JsonValue } from '../machinery/kube-object.js';
import { putOwn } from '../machinery/put-own.js';
import type { StructType } from '../machinery/type-model.js';
import { canonicalBase64 } from './base64.js';
import { ConformError } from './conform-error.js';
import { planOf, type FieldPlan, type StructPlan, type TypePlan } from './type-plan.js';
import { canonicalValue, goJsonText, int32Of, int64Of, mismatchOf } from './values.js';
import { wellFormed } from './well-formed.js';

/** The result of conform(). */
interface Conformed {
  /** A deep copy except for free-form fields: it may be changed without changing the input. */
  readonly object: JsonObject;
  /** Paths of fields that the type does not have, in the order of the document: `spec.containers[0].imagee`. */
  readonly unknownFields: readonly string[];
}

interface ConformOptions {
  /** Keeps explicitly empty lists and maps that affect field ownership, see empties.ts. */
  readonly keepsEmpties?: boolean;
  /** Also reports unknown fields of JSON schemas in fields such as JSONSchemaPropsOrBool. */
  readonly findsNested?: boolean;
}

/** Limit on reported unknown fields. */
export const findingsMax = 100;
/** Limit on depth; decoders have their own, but values may come from elsewhere. */
const depthMax = 1000;

/**
 * Converts an object to what Go holds after decoding it: canonical values, no unknown fields, no empty fields that Go
 * omits, all fields that Go always writes. Throws ConformError if a value has a wrong type; as in Go, an invalid value
 * is reported before a type mismatch.
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
    throw new ConformError(`json: cannot unmarshal ${goJsonText(value)} into Go value of type ${type.goName}`);
  }
  const object = walk.struct(plan, value);
  if (walk.error) throw walk.error;
  return { object, unknownFields: walk.unknown };
}

/** Steps of the path: negative ones are markers, others are indexes of items. */
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
      if (field.isAlwaysWritten) always++;
    }
    if (always !== plan.alwaysWritten.length) {
      for (const field of plan.alwaysWritten)
        if (output[field.name] === undefined) output[field.name] = field.absent()!;
    }
    this.depth--;
    return output;
  }

  private field(field: FieldPlan, input: JsonValue | undefined, owner: StructPlan): JsonValue | undefined {
    if (input === null || input === undefined) return field.absent();
    const { type, empty } = field;
    // Fast path: most values are strings.
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
    if (this.keepsEmpties && (empty === 'null' || field.tellsEmptyFromAbsent)) return value;
    return empty === 'null' ? null : undefined;
  }

  /** Returns undefined for a type mismatch, which is recorded: an invalid value may follow. */
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
    // A list of numbers is also accepted as bytes.
    if (Array.isArray(input)) {
      for (const item of input) {
        if (typeof item === 'number' && Number.isInteger(item) && item >= 0 && item <= 255) continue;
        if (item !== null) this.error ??= this.mismatch(owner, goJsonText(item, true), 'uint8');
      }
      return Buffer.from(input.map((item) => (typeof item === 'number' ? item : 0))).toString('base64');
    }
    this.error ??= this.mismatch(owner, goJsonText(input), '[]uint8');
    return undefined;
  }

  /** Conforms JSONSchemaPropsOrBool and the like: a schema, or a simpler value. */
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
        throw this.mismatch(schema, goJsonText(item), `v1.${schema.shortName}`);
      });
    }
    return input.map((item) => {
      if (item === null) return '';
      if (typeof item === 'string') return wellFormed(item);
      throw this.mismatch(schema, goJsonText(item), 'string');
    });
  }

  /**
   * Conforms a nested schema as Go's UnmarshalJSON does: unknown fields are dropped silently, and a type mismatch is
   * reported for the outer field.
   */
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
    return found ? this.mismatch(owner, found.found, found.wanted) : error;
  }

  private misfit(owner: StructPlan, input: JsonValue, type: TypePlan): ConformError {
    const { found: what, wanted } = mismatchOf(input, type);
    return this.mismatch(owner, what, wanted);
  }

  /** Go names the fields of the path, without indexes and keys. */
  private mismatch(owner: StructPlan, what: string, wanted: string): ConformError {
    const path = this.names.filter((_, at) => this.steps[at] === fieldStep).join('.');
    return new ConformError(
      `json: cannot unmarshal ${what} into Go struct field ${owner.shortName}.${path} of type ${wanted}`,
      { found: what, wanted },
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
