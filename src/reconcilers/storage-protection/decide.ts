import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../catalog/types/core.v1.js';
import { controllerOf } from '../../machinery/kube-object.js';

/**
 * Names of the PersistentVolumeClaims that a Pod uses. A Pod that is on no node uses none: the kubelet starts no Pod
 * whose claim is being deleted. A Pod that has ended still counts until it is deleted.
 */
export function claimsOf({ metadata, spec = {} }: Pod): string[] {
  if (!spec.nodeName) return [];
  const isShutDown = metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
  return (spec.volumes ?? []).flatMap(({ name = '', persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim?.claimName) return [persistentVolumeClaim.claimName];
    // The claim of an ephemeral volume has the name of its Pod and of the volume.
    return ephemeral && !isShutDown ? [`${metadata.name}-${name}`] : [];
  });
}

/** True if the Pod uses the claim. An ephemeral volume uses only the claim that was created for its own Pod. */
export function usesClaim(pod: Pod, claim: PersistentVolumeClaim): boolean {
  const name = claim.metadata.name!;
  if (!claimsOf(pod).includes(name)) return false;
  const isNamed = (pod.spec?.volumes ?? []).some((volume) => volume.persistentVolumeClaim?.claimName === name);
  return isNamed || controllerOf(claim)?.uid === pod.metadata.uid;
}

export function isBound({ status }: PersistentVolume): boolean {
  return status?.phase === 'Bound';
}

/** Names of the VolumeAttributesClasses that a PersistentVolume or a PersistentVolumeClaim has, or is changing to. */
export function attributesClassesOf(object: PersistentVolume | PersistentVolumeClaim): string[] {
  const { spec, status = {} }: PersistentVolumeClaim = object;
  return [
    spec?.volumeAttributesClassName,
    status.currentVolumeAttributesClassName,
    status.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ].flatMap((name) => name || []);
}
