import type { ResourceSlice, ResourceSliceSpec } from '../../catalog/types/resource.v1.js';
import { path, type FieldError } from '../../machinery/field-error.js';
import { immutable } from '../../machinery/immutable.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validateSliceSpec } from './resource-slice.validation.js';
import { stampTaint } from './taint-times.js';

const at = path('spec');

export const resourceSliceStrategy: Strategy<ResourceSlice> = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  prepareForCreate: (slice, { now }) => stampTaints(slice, now),
  prepareForUpdate: (slice, _old, { now }) => stampTaints(slice, now),
  validateCreate: ({ spec = {} }) => validateSliceSpec(spec),
  validateUpdate: ({ spec = {} }, { spec: before = {} }) => [
    ...validateSliceSpec(spec),
    ...validateFixed(spec, before),
  ],
};

function stampTaints({ spec }: Mutable<ResourceSlice>, now: string): void {
  for (const { taints } of spec?.devices ?? []) {
    for (const taint of taints ?? []) stampTaint(taint, now);
  }
}

/** Requires the driver, the node and the name of the pool to stay unchanged. */
function validateFixed(spec: ResourceSliceSpec, before: ResourceSliceSpec): FieldError[] {
  return [
    ...immutable(spec.driver, before.driver, at.child('driver')),
    ...immutable(spec.nodeName, before.nodeName, at.child('nodeName')),
    ...immutable(spec.pool?.name, before.pool?.name, at.child('pool', 'name')),
  ];
}
