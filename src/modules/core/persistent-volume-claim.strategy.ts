import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  TypedLocalObjectReference,
} from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { defaultClaim } from './persistent-volume-claim.defaults.js';
import { claimUpdateRule, validateClaim, validateClaimStatus } from './persistent-volume-claim.validation.js';

export function persistentVolumeClaimStrategy(naming: NamingProfile): Strategy<PersistentVolumeClaim> {
  const snapshotGroup = naming.group('snapshot.storage');
  return {
    validateName: nameIsDnsSubdomain,
    default: defaultClaim,
    initialStatus: () => ({ phase: 'Pending' }),
    prepareForCreate(claim) {
      const { spec = {} } = claim;
      delete spec.dataSourceRef?.namespace;
      if (spec.dataSource && !isSupportedSource(spec.dataSource, snapshotGroup)) delete spec.dataSource;
      mirrorSource(spec);
    },
    prepareForUpdate: ({ spec = {} }) => mirrorSource(spec),
    validateCreate: validateClaim,
    validateUpdate: claimUpdateRule(naming.label('storage-class', 'volume.beta')),
  };
}

/** True for a PersistentVolumeClaim or VolumeSnapshot. dataSource with other kinds is dropped, as in kube-apiserver. */
function isSupportedSource({ apiGroup, kind }: TypedLocalObjectReference, snapshotGroup: string): boolean {
  if (!apiGroup) return kind === 'PersistentVolumeClaim';
  return apiGroup === snapshotGroup && kind === 'VolumeSnapshot';
}

/** Copies dataSource to dataSourceRef, or back, if only one of them is set. */
function mirrorSource(spec: Mutable<PersistentVolumeClaimSpec>): void {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource && !dataSourceRef) spec.dataSourceRef = structuredClone(dataSource);
  if (dataSourceRef && !dataSource && !dataSourceRef.namespace) spec.dataSource = structuredClone(dataSourceRef);
}

export const persistentVolumeClaimStatusSubresource = statusSubresource<PersistentVolumeClaim>({
  validate: (claim) => validateClaimStatus(claim),
});
