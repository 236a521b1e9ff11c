import type { PersistentVolume } from '../../catalog/types/core.v1.js';
import type { Mutable } from '../../machinery/mutable.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validatePersistentVolume, validatePersistentVolumeUpdate } from './persistent-volume.validation.js';
import { defaultVolumeSource } from './pod/pod.defaults.js';
import { normalizeAmounts } from './pod/pod-resources.js';
import { volumeSourceWarnings } from './pod/pod.warnings.js';

export const persistentVolumeStrategy: Strategy<PersistentVolume> = {
  validateName: nameIsDnsSubdomain,
  default: defaultVolume,
  initialStatus: (_volume, { now }) => ({ phase: 'Pending', lastPhaseTransitionTime: now }),
  validateCreate: validatePersistentVolume,
  validateUpdate: validatePersistentVolumeUpdate,
  warnings({ spec = {} }) {
    const texts = volumeSourceWarnings(spec, 'spec');
    if (spec.persistentVolumeReclaimPolicy === 'Recycle') {
      texts.push(
        'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
      );
    }
    return texts;
  },
};

function defaultVolume(volume: Mutable<PersistentVolume>): void {
  const spec = (volume.spec ??= {});
  normalizeAmounts(spec.capacity);
  spec.persistentVolumeReclaimPolicy ||= 'Retain';
  spec.volumeMode ??= 'Filesystem';
  defaultVolumeSource(spec);
  const status = (volume.status ??= {});
  status.phase ||= 'Pending';
}

export const persistentVolumeStatusSubresource = statusSubresource<PersistentVolume>({
  /** Sets lastPhaseTransitionTime if the update changes the phase, but not the time. */
  prepare({ status = {} }, { status: before = {} }, { now }) {
    const { phase, lastPhaseTransitionTime: time } = status;
    const keepsTime = time === undefined || time === before.lastPhaseTransitionTime;
    if (phase !== before.phase && keepsTime) status.lastPhaseTransitionTime = now;
  },
});
