import { asFields, asItems, asText, valueAt } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';

/**
 * Names of the PersistentVolumeClaims that a Pod uses. A Pod that is on no node uses none: the kubelet starts no Pod
 * whose claim is being deleted. A Pod that has ended still counts until it is deleted.
 */
export function claimsOf(pod: KubeObject): string[] {
  const spec = asFields(pod['spec']);
  if (asText(spec['nodeName']) === '') return [];
  const isShutDown = pod.metadata.deletionTimestamp !== undefined && pod.metadata.deletionGracePeriodSeconds === 0;
  return asItems(spec['volumes']).flatMap((volume) => {
    const claim = asText(asFields(volume['persistentVolumeClaim'])['claimName']);
    if (claim !== '') return [claim];
    return volume['ephemeral'] && !isShutDown ? [ephemeralClaimName(pod, asText(volume['name']))] : [];
  });
}

/** True if the Pod uses the claim. An ephemeral volume uses only the claim that was created for its own Pod. */
export function usesClaim(pod: KubeObject, claim: KubeObject): boolean {
  const name = claim.metadata.name!;
  const named = asItems(asFields(pod['spec'])['volumes']).some(
    (volume) => asText(asFields(volume['persistentVolumeClaim'])['claimName']) === name,
  );
  if (!claimsOf(pod).includes(name)) return false;
  const controller = claim.metadata.ownerReferences?.find((owner) => owner.controller === true);
  return named || controller?.uid === pod.metadata.uid;
}

export function isBound(volume: KubeObject): boolean {
  return asFields(volume['status'])['phase'] === 'Bound';
}

/** Names of the VolumeAttributesClasses that a PersistentVolume or a PersistentVolumeClaim has, or is changing to. */
export function attributesClassesOf(object: KubeObject): string[] {
  return [
    ['spec', 'volumeAttributesClassName'],
    ['status', 'currentVolumeAttributesClassName'],
    ['status', 'modifyVolumeStatus', 'targetVolumeAttributesClassName'],
  ]
    .map((path) => asText(valueAt(object, path)))
    .filter((name) => name !== '');
}

const ephemeralClaimName = (pod: KubeObject, volume: string) => `${pod.metadata.name}-${volume}`;
