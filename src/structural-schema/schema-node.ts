import type { JsonValue } from '../machinery/kube-object.js';
import type { Pattern } from '../regex/pattern.js';
import type { Format } from './formats.js';

/**
 * A compiled OpenAPI schema: read once for each version of a definition. The tree is as deep as the schema, which
 * bounds every recursion along it, however deep a value is.
 */
export interface SchemaNode {
  /** The type in error messages: `string`, or `integer,string`; empty if any type is valid. */
  readonly type: string;
  readonly types: readonly string[];
  readonly isNullable: boolean;
  readonly enumeration: Enumeration | undefined;
  readonly text: TextBounds | undefined;
  readonly number: NumberBounds | undefined;
  /** The format, if it applies to the type. */
  readonly format: Format | undefined;
  readonly list: ListBounds | undefined;
  readonly object: ObjectBounds | undefined;
  readonly alternatives: Alternatives | undefined;
  readonly properties: ReadonlyMap<string, SchemaNode>;
  /** Schema of additionalProperties. */
  readonly additional: SchemaNode | undefined;
  /** additionalProperties as a boolean: unknown fields are kept (true) or refused (false). */
  readonly others: boolean | undefined;
  readonly items: SchemaNode | undefined;
  readonly keepsUnknown: boolean;
  readonly isEmbedded: boolean;
  /** The default after pruning, including the defaults inside it. */
  readonly default: JsonValue | undefined;
  readonly defaults: readonly (readonly [field: string, node: SchemaNode])[];
  readonly listType: 'set' | 'map' | undefined;
  readonly keys: readonly string[];
  /** True for features that the schema or one inside it uses. */
  readonly has: Has;
}

interface Has {
  readonly defaults: boolean;
  /** Lists of type set or map, whose items must be unique. */
  readonly keyedLists: boolean;
  readonly embedded: boolean;
  readonly rules: boolean;
}

export interface Enumeration {
  readonly values: readonly unknown[];
  /** Enum values other than objects and lists. */
  readonly scalars: ReadonlySet<unknown>;
  /** Keys (`valueKey`) of enum values that are objects or lists. */
  readonly others: ReadonlySet<string>;
}
export interface TextBounds {
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly pattern: Pattern | undefined;
}
export interface NumberBounds {
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly isAboveMin: boolean;
  readonly isBelowMax: boolean;
  readonly multipleOf: number | undefined;
}
export interface ListBounds {
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly isUnique: boolean;
}
export interface ObjectBounds {
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly required: readonly string[];
}
export interface Alternatives {
  readonly all: readonly SchemaNode[];
  readonly any: readonly SchemaNode[];
  readonly one: readonly SchemaNode[];
  readonly not: SchemaNode | undefined;
}
