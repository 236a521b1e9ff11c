import type { KubeObject } from '../machinery/kube-object.js';
import { compareUtf8 } from '../std/compare-utf8.js';

/**
 * Returns the class with one of the annotations set to `true`. Of several, the one created last is used, and of those the
 * first by name.
 */
export function defaultClassOf(classes: readonly KubeObject[], annotations: readonly string[]): KubeObject | undefined {
  const marked = classes.filter(({ metadata }) =>
    annotations.some((annotation) => metadata.annotations?.[annotation] === 'true'),
  );
  return marked.sort(
    (a, b) => compareUtf8(createdAt(b), createdAt(a)) || compareUtf8(a.metadata.name ?? '', b.metadata.name ?? ''),
  )[0];
}

const createdAt = ({ metadata }: KubeObject) => metadata.creationTimestamp ?? '';
