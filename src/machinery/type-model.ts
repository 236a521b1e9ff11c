import type { JsonValue } from './kube-object.js';

/**
 * What is known of the fields of a kind: the words in which the catalog speaks to those who check, merge, encode and
 * describe objects. Everything is immutable and shared, and structs are linked, so walking a type costs no look-ups.
 */
export type FieldType = ScalarType | ValueType | StructType | ListType | MapType;

export interface ScalarType {
  readonly form: 'scalar';
  readonly scalar: 'string' | 'bytes' | 'bool' | 'int32' | 'int64' | 'float64';
  /** As Go's messages call it: `string`, `int32`, `v1.Protocol`. */
  readonly goName: string;
  /** The values of a closed set, sorted. Others are for validation to refuse: they decode. */
  readonly enumValues: readonly string[] | undefined;
}

/** One value in JSON, whatever it is elsewhere. */
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
  /** Any JSON: FieldsV1, RawExtension (an object), the JSON of a schema. */
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
  /** In protobuf a message whose field 1 holds the items. */
  readonly isMessage: boolean;
}

export interface MapType {
  readonly form: 'map';
  /** Keys are strings. */
  readonly of: FieldType;
  readonly goName: string;
}

export interface StructType {
  readonly form: 'struct';
  /** `core.v1.PodSpec`: the package's short name and the type's. */
  readonly name: string;
  readonly goName: string;
  /** `io.k8s.api.core.v1.PodSpec`, with the domain as configured: how OpenAPI documents call it. */
  readonly modelName: string;
  /** As declared; the inlined ones stand here as one field each. */
  readonly fields: readonly Field[];
  /** As JSON shows them: fields of inlined structs stand beside the others. */
  readonly byName: ReadonlyMap<string, Field>;
  readonly isAtomic: boolean;
  /** In `byName`'s names. */
  readonly unions: readonly { readonly discriminator: string | undefined; readonly members: readonly string[] }[];
}

export interface Field {
  /** In JSON; '' when the struct is inlined. */
  readonly name: string;
  readonly type: FieldType;
  readonly isInline: boolean;
  /** A zero says something that absence does not. */
  readonly isPointer: boolean;
  /** An empty value is left out of JSON. */
  readonly omitsEmpty: boolean;
  readonly presence: 'optional' | 'required' | undefined;
  readonly default: JsonValue | undefined;
  /** How the items of a list are told apart; undefined is the same as atomic. */
  readonly list: { readonly type: 'atomic' | 'set' | 'map'; readonly keys: readonly string[] } | undefined;
  /** A map or struct that one manager owns as a whole. */
  readonly isAtomic: boolean;
  /** Said to be merged part by part, as every map and struct is of which nothing is said. */
  readonly isGranular: boolean;
  /** Strategic merge. */
  readonly patch: { readonly strategies: readonly string[]; readonly mergeKey: string | undefined } | undefined;
  /** Protobuf's number; 0 where the type has no protobuf form. */
  readonly number: number;
  /** Gates without which the field is dropped. */
  readonly gates: readonly string[];
  /** Declarative validation, as it is declared: `minimum=0`, `alpha(since: "1.36")=optional`. */
  readonly rules: readonly string[];
}

/** Where types are found. */
export interface TypeSource {
  /** Undefined for kinds that are not built in. */
  kind(group: string, version: string, kind: string): StructType | undefined;
  /** By its name: `meta.v1.ObjectMeta`. A name that is not there is our bug. */
  struct(name: string): StructType;
}
