import type { JsonValue } from '../../../machinery/kube-object.js';
import type { Fields } from '../../../machinery/fields.js';
import type { Format } from './formats.js';
import type { Pattern } from './pattern.js';

/**
 * A schema as it is asked of every value: read once for a version of a definition, so that no object costs a look at
 * the schema itself. The tree is as deep as the schema, which bounds every walk along it however deep values are.
 */
export interface SchemaNode {
  /** In the words of messages: `string`, `integer,string`; empty where anything is. */
  readonly type: string;
  readonly types: readonly string[];
  readonly isNullable: boolean;
  readonly enumeration: Enumeration | undefined;
  readonly text: TextBounds | undefined;
  readonly number: NumberBounds | undefined;
  /** As the schema says it, where it means something for the type. */
  readonly format: Format | undefined;
  readonly list: ListBounds | undefined;
  readonly object: ObjectBounds | undefined;
  readonly alternatives: Alternatives | undefined;
  readonly properties: ReadonlyMap<string, SchemaNode>;
  /** Of all other fields. */
  readonly additional: SchemaNode | undefined;
  /** What is said of other fields, if anything: they are kept (true), or refused (false). */
  readonly others: boolean | undefined;
  readonly items: SchemaNode | undefined;
  readonly keepsUnknown: boolean;
  readonly isEmbedded: boolean;
  /** Without what the schema does not know, and with the defaults inside it. */
  readonly default: JsonValue | undefined;
  readonly defaults: readonly (readonly [field: string, node: SchemaNode])[];
  readonly listType: 'set' | 'map' | undefined;
  readonly keys: readonly string[];
  /** Whether somewhere in values of it … */
  readonly has: Has;
  /** `x-kubernetes-validations`, for those who evaluate them. */
  readonly rules: readonly Fields[];
}

interface Has {
  readonly defaults: boolean;
  /** Lists whose items must differ. */
  readonly keyedLists: boolean;
  readonly embedded: boolean;
  readonly rules: boolean;
}

export interface Enumeration {
  readonly values: readonly unknown[];
  /** Values among them that are no objects or lists. */
  readonly scalars: ReadonlySet<unknown>;
  /** The keys (`valueKey`) of objects and lists among them. */
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
