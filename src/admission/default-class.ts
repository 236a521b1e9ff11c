import { isSet } from '../machinery/fields.js';
import type { KubeObject } from '../machinery/kube-object.js';

/** The class that says of itself that it is the default one. Of several, the youngest; of those, the first by name. */
export function defaultClassOf(classes: readonly KubeObject[], annotations: readonly string[]): KubeObject | undefined {
  const marked = classes.filter(({ metadata }) =>
    annotations.some((annotation) => metadata.annotations?.[annotation] === 'true'),
  );
  return marked.sort(
    (a, b) => compare(bornAt(b), bornAt(a)) || compare(a.metadata.name ?? '', b.metadata.name ?? ''),
  )[0];
}

const bornAt = ({ metadata }: KubeObject) => (isSet(metadata.creationTimestamp) ? metadata.creationTimestamp! : '');
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
