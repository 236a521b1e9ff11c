import { deepEqual } from '../../machinery/deep-equal.js';
import { asFields, fillIn, fillInZero, isSet, makeFields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { nameIsDnsSubdomain } from '../../machinery/names.js';
import { statusSubresource } from '../../registry/definition/status-subresource.js';
import type { Strategy } from '../../registry/definition/strategy.js';
import { validatePersistentVolume, validatePersistentVolumeUpdate } from './persistent-volume.validation.js';
import { defaultVolumeSource } from './pod/pod.defaults.js';
import { normalizeAmounts } from './pod/pod-resources.js';
import { volumeSourceWarnings } from './pod/pod.warnings.js';

export const persistentVolumeStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  default: defaultVolume,
  prepareForCreate(volume, { now }) {
    volume['status'] = { phase: 'Pending', lastPhaseTransitionTime: now };
  },
  prepareForUpdate(volume, old) {
    volume['status'] = old['status'];
  },
  validateCreate: validatePersistentVolume,
  validateUpdate: validatePersistentVolumeUpdate,
  warnings(volume) {
    const spec = asFields(volume['spec']);
    const texts = volumeSourceWarnings(spec, 'spec');
    if (spec['persistentVolumeReclaimPolicy'] === 'Recycle') {
      texts.push(
        'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
      );
    }
    return texts;
  },
};

function defaultVolume(volume: KubeObject): void {
  const spec = makeFields(volume, 'spec');
  normalizeAmounts(spec['capacity']);
  fillInZero(spec, 'persistentVolumeReclaimPolicy', 'Retain');
  fillIn(spec, 'volumeMode', 'Filesystem');
  defaultVolumeSource(spec);
  fillInZero(makeFields(volume, 'status'), 'phase', 'Pending');
}

export const persistentVolumeStatusSubresource = statusSubresource({
  /** Whoever reports a phase may say since when it holds; otherwise it holds from this moment. */
  prepare(volume, old, { now }) {
    const status = asFields(volume['status']);
    const before = asFields(old['status']);
    const saysNothing =
      !isSet(status['lastPhaseTransitionTime']) ||
      deepEqual(status['lastPhaseTransitionTime'], before['lastPhaseTransitionTime']);
    if (status['phase'] !== before['phase'] && saysNothing) status['lastPhaseTransitionTime'] = now;
  },
});
