import { path, type FieldError } from '../../machinery/field-error.js';
import { asFields, asItems, type Fields } from '../../machinery/fields.js';
import { immutable } from '../../machinery/immutable.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateSliceSpec } from './resource-slice.validation.js';
import { stampTaint } from './taint-times.js';

const at = path('spec');

export const resourceSliceStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  prepareForCreate: (slice, { now }) => stampTaints(slice, now),
  prepareForUpdate: (slice, _old, { now }) => stampTaints(slice, now),
  validateCreate: (slice) => validateSliceSpec(asFields(slice['spec'])),
  validateUpdate: (slice, old) => {
    const [spec, before] = [asFields(slice['spec']), asFields(old['spec'])];
    return [...validateSliceSpec(spec), ...validateFixed(spec, before)];
  },
};

function stampTaints(slice: KubeObject, now: string): void {
  for (const device of asItems(asFields(slice['spec'])['devices'])) {
    for (const taint of asItems(device['taints'])) stampTaint(taint, now);
  }
}

/** Whose devices they are, and in which pool. */
function validateFixed(spec: Fields, before: Fields): FieldError[] {
  const poolName = (of: Fields) => asFields(of['pool'])['name'];
  return [
    ...['driver', 'nodeName'].flatMap((field) => immutable(spec[field], before[field], at.child(field))),
    ...immutable(poolName(spec), poolName(before), at.child('pool', 'name')),
  ];
}
