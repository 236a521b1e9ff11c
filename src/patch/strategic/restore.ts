import { isJsonObject, type JsonValue } from '../../machinery/kube-object.js';
import type { FieldType } from '../../machinery/type-model.js';
import { own } from './directives.js';

/**
 * Returns an error if a patched value cannot be decoded as its type, for example a list instead of a map. Values shared
 * with the old object are skipped, and scalars are left to the decoder.
 */
export function restoreProblem(type: FieldType, value: JsonValue, before?: JsonValue): string | undefined {
  if (value === before || value === null) return undefined;
  switch (type.form) {
    case 'struct': {
      if (!isJsonObject(value)) return `cannot restore struct from: ${kindName(value)}`;
      for (const [name, part] of Object.entries(value)) {
        const field = type.byName.get(name);
        const problem = field && restoreProblem(field.type, part, partOf(before, name));
        if (problem !== undefined) return problem;
      }
      return undefined;
    }
    case 'map': {
      if (!isJsonObject(value)) return `cannot restore map from ${kindName(value)}`;
      return firstProblem(type.of, Object.values(value));
    }
    case 'list':
      return Array.isArray(value) ? firstProblem(type.of, value) : `cannot restore slice from ${kindName(value)}`;
    case 'scalar':
    case 'value':
      return undefined;
  }
}

function firstProblem(type: FieldType, values: readonly JsonValue[]): string | undefined {
  if (type.form === 'scalar' || type.form === 'value') return undefined;
  for (const value of values) {
    const problem = restoreProblem(type, value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function partOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) ? own(value, name) : undefined;
}

function kindName(value: JsonValue): string {
  if (Array.isArray(value)) return 'slice';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'int64';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'object' ? 'map' : typeof value;
}
