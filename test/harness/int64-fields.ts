import type { Fields } from '../../src/machinery/fields.js';
import type { Int64 } from '../../src/machinery/int64.js';
import type { FieldType, StructType } from '../../src/machinery/type-model.js';

/** Field names; 0 for the first item of a list, and `anyKey` for an entry of a map. */
export type FieldSteps = readonly (string | 0)[];

const anyKey = '*';

/** Returns the paths of all int64 fields of a type. A recursive type is entered once. */
export function int64Fields(type: StructType): FieldSteps[] {
  return fieldsIn(type, [], []);
}

function fieldsIn(type: FieldType, path: FieldSteps, within: readonly FieldType[]): FieldSteps[] {
  switch (type.form) {
    case 'scalar':
      return type.scalar === 'int64' ? [path] : [];
    case 'list':
      return fieldsIn(type.of, [...path, 0], within);
    case 'map':
      return fieldsIn(type.of, [...path, anyKey], within);
    case 'struct':
      if (within.includes(type)) return [];
      return [...type.byName].flatMap(([name, field]) => fieldsIn(field.type, [...path, name], [...within, type]));
    default:
      return [];
  }
}

/** `spec.containers[0].securityContext.runAsUser` */
export function fieldText(path: FieldSteps): string {
  return path
    .map((step) => (step === 0 ? '[0]' : `.${step}`))
    .join('')
    .slice(1);
}

/** Fields that replace those of the parents of an int64 field, except `name`, by the end of the path of the parent. */
const companions: readonly (readonly [parent: RegExp, fields: Fields])[] = [
  [/initContainers\[0\]$/, { name: 'init', image: 'i', restartPolicy: 'Always' }],
  [/(liveness|readiness|startup)Probe$/, { exec: { command: ['true'] } }],
  [/tolerations\[0\]$/, { key: 'k', operator: 'Exists', effect: 'NoExecute' }],
  [/volumes\[0\]$/, { name: 'v' }],
  [/serviceAccountToken$/, { path: 'token' }],
  [/volumeClaimTemplate$/, { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }],
  [/attributes\.\*$/, {}],
  // The other fields are those of v1beta1.
  [/requests\[0\]$/, { name: 'scanner', deviceClassName: 'c', allocationMode: 'ExactCount' }],
  [/(exactly|firstAvailable\[0\])$/, { name: 'fast', deviceClassName: 'c', allocationMode: 'ExactCount', count: 1 }],
  [/conditions\[0\]$/, { type: 'Ready', status: 'True', reason: 'R', lastTransitionTime: '2026-01-01T00:00:00Z' }],
  [/results\[0\]$/, { request: 'scanner', driver: 'd.example.com', pool: 'p', device: 'd' }],
  [/status\.pools\[0\]$/, { driver: 'd.example.com', poolName: 'p', resourceSliceCount: 1, generation: 0 }],
];

/**
 * Returns a copy of the object with the value at the path, in the first item of each list and entry of each map, and
 * with the fields that its parents need.
 */
export function withInt64(object: object, path: FieldSteps, value: Int64): Fields {
  return replaced(object, path, 0, value) as Fields;
}

/** Returns the value at the path, as withInt64() puts it. */
export function int64At(object: unknown, path: FieldSteps): unknown {
  return path.reduce<unknown>((inner, step) => {
    const fields = (inner ?? {}) as Fields;
    return fields[stepIn(fields, step)];
  }, object);
}

function replaced(before: unknown, path: FieldSteps, depth: number, to: Int64): unknown {
  const step = path[depth];
  if (step === undefined) return to;
  if (step === 0) {
    const [first, ...others] = Array.isArray(before) ? (before as unknown[]) : [];
    return [replaced(first, path, depth + 1, to), ...others];
  }
  const at = fieldText(path.slice(0, depth));
  const given = (before ?? {}) as Fields;
  const needed = companions.find(([parent]) => parent.test(at))?.[1];
  const fields = needed ? { ...needed, ...(needed['name'] && given['name'] ? { name: given['name'] } : {}) } : given;
  const name = stepIn(fields, step);
  return { ...fields, [name]: replaced(fields[name], path, depth + 1, to) };
}

const stepIn = (fields: Fields, step: string | 0): string | 0 =>
  step === anyKey ? (Object.keys(fields)[0] ?? 'k') : step;
