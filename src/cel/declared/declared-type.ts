import type { CelType } from '../types.js';
import type { Value } from '../values/value.js';

/**
 * A type with what Kubernetes knows of its values: how many elements they may have, and how plain JSON is read as one.
 * `schemaType` makes it of an OpenAPI schema; others may implement it.
 */
export interface DeclaredType {
  readonly type: CelType;
  /** The most elements, entries or characters that a value has; 0 if it has none. */
  readonly maxElements: number;
  /** The least bytes of a value as JSON. */
  readonly minSerializedSize: number;
  /** Of a list the elements, of a map the values. */
  readonly elements?: DeclaredType;
  /** Of a map. */
  readonly keys?: DeclaredType;
  /** Of a struct, by their escaped names. */
  readonly fields?: ReadonlyMap<string, DeclaredType>;
  /** The value that JSON stands for. Nothing is copied: lists and objects are read when they are asked. */
  read(json: unknown): Value;
}
