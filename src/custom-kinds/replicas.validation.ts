import { fieldError, type FieldError } from '../machinery/field-error.js';
import { fieldsOfPath, isSet, valueAt } from '../machinery/fields.js';
import { isInt64 } from '../machinery/int64.js';
import type { KubeObject } from '../machinery/kube-object.js';

const replicasMax = 2 ** 31 - 1;

/**
 * Refuses replicas that are not an int32 of at least 0. `path` is a JSON path (`.spec.replicas`), which the error names
 * as it is.
 */
export function validateReplicas(object: KubeObject, path: string): FieldError[] {
  const replicas = valueAt(object, fieldsOfPath(path));
  if (!isSet(replicas)) return [];
  if (!isInt64(replicas)) {
    const isScalar = typeof replicas === 'string' || typeof replicas === 'number' || typeof replicas === 'boolean';
    const found = isScalar ? String(replicas) : 'a value';
    return [
      fieldError.invalid(
        path,
        0,
        `${path} accessor error: ${found} is of the type ${goType(replicas)}, expected int64`,
      ),
    ];
  }
  if (replicas < 0) return [fieldError.invalid(path, replicas, 'should be a non-negative integer')];
  if (replicas > replicasMax) {
    return [fieldError.invalid(path, replicas, `should be less than or equal to ${replicasMax}`)];
  }
  return [];
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  const names: Readonly<Record<string, string>> = { number: 'float64', boolean: 'bool', string: 'string' };
  return names[typeof value] ?? 'map[string]interface {}';
}
