import type { JsonValue } from '../../machinery/kube-object.js';

/**
 * A type as field ownership sees it: which values are atomic and which are granular. A type may have several forms (any
 * JSON has all three); the value decides which one applies.
 */
export interface Schema {
  readonly scalar: ScalarKind | undefined;
  readonly list: ListSchema | undefined;
  readonly map: MapSchema | undefined;
}

export type ScalarKind = 'string' | 'numeric' | 'boolean' | 'untyped';

export interface ListSchema {
  /** Items of a set are identified by value, those of a map by keys. */
  readonly kind: 'atomic' | 'set' | 'map';
  readonly of: Schema;
  /** Sorted by name, as in a path element. */
  readonly keys: readonly ListKey[];
}

export interface ListKey {
  readonly name: string;
  /** `"name":`, precomputed for path elements. */
  readonly label: string;
  /** Value of the key for items without it. */
  readonly default: JsonValue | undefined;
}

/** Objects: structs have fields, maps have values, some types have both. */
export interface MapSchema {
  readonly isAtomic: boolean;
  readonly fields: ReadonlyMap<string, FieldSchema>;
  /** Keyed by path element: `f:spec`. */
  readonly byElement: ReadonlyMap<string, FieldSchema>;
  /** Schema of the other keys; undefined if there are none. */
  readonly values: Schema | undefined;
  /** Fields that Go always writes. */
  readonly constant: readonly FieldSchema[];
}

export interface FieldSchema {
  readonly name: string;
  readonly element: string;
  /** Index among the fields of the struct. */
  readonly rank: number;
  readonly schema: Schema;
  /**
   * The value of an unset field. Go writes empty structs, and zeros without omitempty: a client that leaves them
   * unchanged does not own them.
   */
  readonly zero: JsonValue | undefined;
}

type Form = 'scalar' | 'list' | 'map';

/** The form of the type that applies to the value. Null, and values of a wrong type, count as the first form. */
export function formOf(schema: Schema, value: unknown): Form {
  if (typeof value === 'object' && value !== null) {
    if (Array.isArray(value)) {
      if (schema.list) return 'list';
    } else if (schema.map) return 'map';
  } else if (value !== null && value !== undefined && schema.scalar) return 'scalar';
  return schema.map ? 'map' : schema.scalar ? 'scalar' : 'list';
}

const noFields: ReadonlyMap<string, FieldSchema> = new Map();

export function mapOf(values: Schema | undefined, isAtomic: boolean): MapSchema {
  return { isAtomic, fields: noFields, byElement: noFields, values, constant: [] };
}

interface Open {
  scalar: ScalarKind;
  list: ListSchema;
  map: MapSchema;
}

function anyJson(isAtomic: boolean, items: (self: Schema) => Schema): Schema {
  const open: Partial<Open> = { scalar: 'untyped' };
  const schema = open as Open;
  open.list = { kind: 'atomic', of: items(schema), keys: [] };
  open.map = mapOf(schema, isAtomic);
  return schema;
}

/** Any JSON, atomic. */
export const atomicJson: Schema = anyJson(true, (self) => self);

/** Any JSON with granular objects: for objects without a schema. */
export const deducedJson: Schema = anyJson(false, () => atomicJson);
