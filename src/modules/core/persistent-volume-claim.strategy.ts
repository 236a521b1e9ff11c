import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, asText, isSet, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { defaultClaim } from './persistent-volume-claim.defaults.js';
import { claimUpdateRule, validateClaim, validateClaimStatus } from './persistent-volume-claim.validation.js';

export function persistentVolumeClaimStrategy(naming: NamingProfile): Strategy {
  const snapshotGroup = naming.group('snapshot.storage');
  return {
    validateName: nameIsDnsSubdomain,
    default: defaultClaim,
    prepareForCreate(claim) {
      claim['status'] = { phase: 'Pending' };
      const spec = asFields(claim['spec']);
      delete asFields(spec['dataSourceRef'])['namespace'];
      if (isSet(spec['dataSource']) && !isOldSource(asFields(spec['dataSource']), snapshotGroup)) {
        delete spec['dataSource'];
      }
      mirrorSource(spec);
    },
    prepareForUpdate(claim, old) {
      claim['status'] = old['status'];
      mirrorSource(asFields(claim['spec']));
    },
    validateCreate: validateClaim,
    validateUpdate: claimUpdateRule(naming.label('storage-class', 'volume.beta')),
  };
}

/** The older of the two fields knows claims and snapshots only; anything else in it was always ignored. */
function isOldSource(source: Fields, snapshotGroup: string): boolean {
  const group = asText(source['apiGroup']);
  return group === ''
    ? source['kind'] === 'PersistentVolumeClaim'
    : group === snapshotGroup && source['kind'] === 'VolumeSnapshot';
}

/** Both fields say what the volume begins with; who sets one of them sets both. */
function mirrorSource(spec: Fields): void {
  const { dataSource, dataSourceRef } = spec;
  if (isSet(dataSource) && !isSet(dataSourceRef)) spec['dataSourceRef'] = structuredClone(dataSource);
  if (isSet(dataSourceRef) && !isSet(dataSource) && asText(asFields(dataSourceRef)['namespace']) === '') {
    spec['dataSource'] = structuredClone(dataSourceRef);
  }
}

export const persistentVolumeClaimStatusSubresource = statusSubresource({
  validate: (claim: KubeObject) => validateClaimStatus(claim),
});
