import { asFields, asItems, type Fields } from '../../machinery/fields.js';

export type ContainerList = 'initContainers' | 'containers' | 'ephemeralContainers';

const allLists: readonly ContainerList[] = ['initContainers', 'containers', 'ephemeralContainers'];

/** The containers of a Pod's spec, in the order in which they start. They are the Pod's own: changes are seen. */
export function containersOf(spec: unknown, lists: readonly ContainerList[] = allLists): Fields[] {
  const fields = asFields(spec);
  return lists.flatMap((list) => asItems(fields[list]));
}

/** The Pod was made by a node agent from its own files: the server shows it, and may not change it. */
export function isMirrorPod(pod: { metadata: { annotations?: Record<string, string> } }, mirrorLabel: string): boolean {
  return pod.metadata.annotations?.[mirrorLabel] !== undefined;
}
