import type { JsonValue } from '../machinery/kube-object.js';
import type { FieldType } from '../machinery/type-model.js';

/** Facts of a field that tell zero from absent. */
interface Settable {
  readonly type: FieldType;
  readonly isPointer: boolean;
}

export function isUnset(value: JsonValue | undefined, { type, isPointer }: Settable): boolean {
  if (value === undefined || value === null) return true;
  if (isPointer) return false;
  if (typeof value !== 'object') return value === '' || value === 0 || value === false;
  if (Array.isArray(value)) return value.length === 0;
  return type.form === 'map' && Object.keys(value).length === 0;
}

/** The zero value in Go; undefined for pointers and for values that are not scalars. */
export function zeroOf({ type, isPointer }: Settable): JsonValue | undefined {
  if (isPointer || type.form !== 'scalar') return undefined;
  return type.scalar === 'string' || type.scalar === 'bytes' ? '' : type.scalar === 'bool' ? false : 0;
}
