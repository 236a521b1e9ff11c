import type { Container, Pod, PodSpec } from '../catalog/types/core.v1.js';
import type { Mutable } from '../machinery/mutable.js';

type ContainerList = 'initContainers' | 'containers' | 'ephemeralContainers';

export const containerLists: readonly ContainerList[] = ['initContainers', 'containers', 'ephemeralContainers'];

/** Returns the containers of a Pod in the order in which they start, not copied. */
export function containersOf(spec: Mutable<PodSpec>, lists?: readonly ContainerList[]): Mutable<Container>[];
export function containersOf(spec: PodSpec, lists?: readonly ContainerList[]): Container[];
export function containersOf(spec: PodSpec, lists = containerLists): Container[] {
  return lists.flatMap((list): readonly Container[] => spec[list] ?? []);
}

/** True for a mirror Pod: the kubelet created it from a file of its node, and the server must not change it. */
export function isMirrorPod({ metadata }: Pod, mirrorAnnotation: string): boolean {
  return metadata.annotations?.[mirrorAnnotation] !== undefined;
}
