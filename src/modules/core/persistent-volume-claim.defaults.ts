import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '../../catalog/types/core.v1.js';
import type { Mutable } from '../../machinery/mutable.js';
import { normalizeAmounts, normalizeResources } from './pod/pod-resources.js';

/** Defaults a PersistentVolumeClaim, also in the volumeClaimTemplates of a StatefulSet. */
export function defaultClaim(claim: Mutable<Partial<PersistentVolumeClaim>>): void {
  defaultClaimSpec((claim.spec ??= {}));
  const status = (claim.status ??= {});
  status.phase ||= 'Pending';
  normalizeAmounts(status.capacity);
  normalizeAmounts(status.allocatedResources);
  for (const condition of status.conditions ?? []) {
    condition.lastProbeTime ??= null;
    condition.lastTransitionTime ??= null;
  }
}

/** Defaults the spec of a PersistentVolumeClaim, also of an ephemeral volume. */
export function defaultClaimSpec(spec: Mutable<PersistentVolumeClaimSpec>): void {
  normalizeResources((spec.resources ??= {}));
  spec.volumeMode ??= 'Filesystem';
  if (spec.dataSource) spec.dataSource.apiGroup ??= null;
  if (spec.dataSourceRef) spec.dataSourceRef.apiGroup ??= null;
}
