import type { JsonValue } from './kube-object.js';

/**
 * The type model of built-in kinds: what the catalog knows about their fields, for validation, merging, encoding and
 * OpenAPI. Types are immutable, shared and linked, so walking a type needs no lookups.
 */
export type FieldType = ScalarType | ValueType | StructType | ListType | MapType;

export interface ScalarType {
  readonly form: 'scalar';
  readonly scalar: 'string' | 'bytes' | 'bool' | 'int32' | 'int64' | 'float64';
  /** The Go name in messages: `string`, `int32`, `v1.Protocol`. */
  readonly goName: string;
  /** The values of an enum, sorted. Other values decode, and are rejected by validation. */
  readonly enumValues: readonly string[] | undefined;
}

/** A type with its own JSON encoding. */
export interface ValueType {
  readonly form: 'value';
  readonly value: ValueName;
  readonly goName: string;
}
export type ValueName =
  | 'time'
  | 'microTime'
  | 'duration'
  | 'quantity'
  | 'intOrString'
  /** Any JSON: FieldsV1, RawExtension (an object), JSON in a schema. */
  | 'fieldsV1'
  | 'rawExtension'
  | 'json'
  /** Parts of a JSON schema that are a schema or something simpler: a boolean, a list of schemas, a list of strings. */
  | 'schemaOrBool'
  | 'schemaOrArray'
  | 'schemaOrStrings';

export interface ListType {
  readonly form: 'list';
  readonly of: FieldType;
  readonly goName: string;
  /** In protobuf, a message whose field 1 holds the items. */
  readonly isMessage: boolean;
}

export interface MapType {
  readonly form: 'map';
  /** The type of the values; keys are strings. */
  readonly of: FieldType;
  readonly goName: string;
}

export interface StructType {
  readonly form: 'struct';
  /** `core.v1.PodSpec`: the short package name and the type name. */
  readonly name: string;
  readonly goName: string;
  /** The name in OpenAPI documents: `io.k8s.api.core.v1.PodSpec`, with the configured domain. */
  readonly modelName: string;
  /** The declared fields, with an inlined struct as one field. */
  readonly fields: readonly Field[];
  /** The fields in JSON, including those of inlined structs. */
  readonly byName: ReadonlyMap<string, Field>;
  readonly isAtomic: boolean;
  /** Names as in `byName`. */
  readonly unions: readonly { readonly discriminator: string | undefined; readonly members: readonly string[] }[];
}

export interface Field {
  /** The JSON name; '' for an inlined struct. */
  readonly name: string;
  readonly type: FieldType;
  readonly isInline: boolean;
  /** True if a zero value differs from an absent one. */
  readonly isPointer: boolean;
  /** True if an empty value is omitted in JSON (omitempty). */
  readonly omitsEmpty: boolean;
  readonly presence: 'optional' | 'required' | undefined;
  readonly default: JsonValue | undefined;
  /** The list type (`+listType`); undefined is equal to atomic. */
  readonly list: { readonly type: 'atomic' | 'set' | 'map'; readonly keys: readonly string[] } | undefined;
  /** True for a map or struct that one field manager owns as a whole. */
  readonly isAtomic: boolean;
  /** True if declared granular (`+mapType`), which is also the default of maps and structs. */
  readonly isGranular: boolean;
  /** The strategy and merge key of strategic merge patch. */
  readonly patch: { readonly strategies: readonly string[]; readonly mergeKey: string | undefined } | undefined;
  /** The protobuf field number; 0 if the type has no protobuf encoding. */
  readonly number: number;
  /** The field is dropped unless these feature gates are on. */
  readonly gates: readonly string[];
  /** Declarative validation rules as declared: `minimum=0`, `alpha(since: "1.36")=optional`. */
  readonly rules: readonly string[];
}

/** Looks up types. */
export interface TypeSource {
  /** Returns undefined for kinds that are not built in. */
  kind(group: string, version: string, kind: string): StructType | undefined;
  /** Returns the struct of a name: `meta.v1.ObjectMeta`. Fails an assertion for an unknown name. */
  struct(name: string): StructType;
}
