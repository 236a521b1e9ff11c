import { fieldSelectorIfValid } from '../machinery/field-selector.js';
import type { RequestInfo } from '../machinery/request-info.js';

/**
 * Counts open watches by what they watch, to estimate how many of them a write concerns. Watches of Pods on one node are
 * not counted: an index finds the few that an event concerns.
 */
export class WatchCounts {
  private readonly counts = new Map<string, number>();

  /** Counts a watch. Returns a function that must be called when it ends; undefined if it is not counted. */
  add(info: RequestInfo): (() => void) | undefined {
    if (info.resource === 'pods' && isOfOneNode(info)) return undefined;
    const key = keyOf(info, info.namespace, info.name);
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    return () => {
      const left = this.counts.get(key)! - 1;
      if (left > 0) this.counts.set(key, left);
      else this.counts.delete(key);
    };
  }

  /** Returns the number of watches that get an event of a write: of the resource, the namespace and the object. */
  concerned(info: RequestInfo): number {
    const { counts } = this;
    if (counts.size === 0) return 0;
    const { namespace, name } = info;
    let count = counts.get(keyOf(info, '', '')) ?? 0;
    if (namespace !== '') count += counts.get(keyOf(info, namespace, '')) ?? 0;
    if (name !== '') count += counts.get(keyOf(info, namespace, name)) ?? 0;
    return count;
  }
}

const keyOf = ({ group, resource }: RequestInfo, namespace: string, name: string): string =>
  `${group}/${resource}/${namespace}/${name}`;

function isOfOneNode({ query }: RequestInfo): boolean {
  const selector = query.raw === '' ? undefined : query.first('fieldSelector');
  if (selector === undefined || selector === '') return false;
  const node = fieldSelectorIfValid(selector)?.requiresExact('spec.nodeName');
  return node !== undefined && node !== '';
}
