import type { KubeObject } from '../machinery/kube-object.js';
import { compareText } from '../patch/apply/json-text.js';

/**
 * Returns the class with one of the annotations set to `true`. Of several, the one created last is used, and of those the
 * first by name.
 */
export function defaultClassOf(classes: readonly KubeObject[], annotations: readonly string[]): KubeObject | undefined {
  const marked = classes.filter(({ metadata }) =>
    annotations.some((annotation) => metadata.annotations?.[annotation] === 'true'),
  );
  return marked.sort(
    (a, b) => compareText(createdAt(b), createdAt(a)) || compareText(a.metadata.name ?? '', b.metadata.name ?? ''),
  )[0];
}

const createdAt = ({ metadata }: KubeObject) => metadata.creationTimestamp ?? '';
