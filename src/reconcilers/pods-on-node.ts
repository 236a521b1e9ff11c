import type { Attributes, EncodedObject } from '../cache/encoded-object.js';
import type { ServedResource } from '../registry/resource-registry.js';

const field = 'spec.nodeName';

/** Returns the name of a Pod in a queue. */
export function podKey({ namespace, name }: Pick<Attributes, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

/** Returns the Pods that are bound to a Node. */
export function podsOn({ store }: ServedResource, node: string): EncodedObject[] {
  const snapshot = store.cache.snapshot();
  const all = store.scopeOf('');
  const found = snapshot.rangeByFields([{ field, value: node }], all) ?? snapshot.range(all);
  return [...found].filter(({ attributes }) => attributes.fields[field] === node);
}
