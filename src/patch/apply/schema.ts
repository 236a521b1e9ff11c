import type { JsonValue } from '../../machinery/kube-object.js';

/**
 * Types as ownership sees them: which values are one thing that one manager owns, and which fall into parts.
 * A value may have several forms (any JSON has all three); what it is decides which one counts.
 */
export interface Schema {
  readonly scalar: ScalarKind | undefined;
  readonly list: ListSchema | undefined;
  readonly map: MapSchema | undefined;
}

export type ScalarKind = 'string' | 'numeric' | 'boolean' | 'untyped';

export interface ListSchema {
  /** Items of a set are told apart by themselves, those of a map by their keys. */
  readonly kind: 'atomic' | 'set' | 'map';
  readonly of: Schema;
  /** Sorted by name, as they stand in a path. */
  readonly keys: readonly ListKey[];
}

export interface ListKey {
  readonly name: string;
  /** `"name":`, ready for the path. */
  readonly label: string;
  /** What an item without the key has in its place. */
  readonly default: JsonValue | undefined;
}

/** Objects: structs have fields, maps have values, some have both. */
export interface MapSchema {
  readonly isAtomic: boolean;
  readonly fields: ReadonlyMap<string, FieldSchema>;
  /** The same by the path element: `f:spec`. */
  readonly byElement: ReadonlyMap<string, FieldSchema>;
  /** Of what is not among the fields; undefined when there may be nothing else. */
  readonly values: Schema | undefined;
  /** Fields that are there even when nobody wrote them. */
  readonly constant: readonly FieldSchema[];
}

export interface FieldSchema {
  readonly name: string;
  readonly element: string;
  /** Its place among the fields of its struct. */
  readonly rank: number;
  readonly schema: Schema;
  /**
   * The value of a field that nobody wrote. Go writes empty structs, and zeros that are not declared to be left out:
   * whoever leaves them as they are does not own them.
   */
  readonly zero: JsonValue | undefined;
}

export type Form = 'scalar' | 'list' | 'map';

/** Which form of the type the value has. What fits none, and null, count as the first that there is. */
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

/** Any JSON, owned as a whole. */
export const atomicJson: Schema = anyJson(true, (self) => self);

/** Any JSON, objects owned field by field: what is known of objects without a schema. */
export const deducedJson: Schema = anyJson(false, () => atomicJson);
