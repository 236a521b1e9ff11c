import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { Version } from './write-model.js';

/** The namespace of the writers. Other objects in it do not matter. */
export const namespace = 'linear';
export const objectNames = Array.from({ length: 8 }, (_, index) => `object-${index}`);
export const isOurs = (name: string | undefined) => name?.startsWith('object-') ?? false;

export function versionOf(object: KubeObject): Version {
  const { uid = '', resourceVersion, finalizers = [], deletionTimestamp } = object.metadata;
  return {
    revision: Number(resourceVersion),
    uid,
    data: { ...(object['data'] as Version['data'] | undefined) },
    finalizers,
    isDeleting: deletionTimestamp !== undefined,
  };
}
