import type { Node, NodeCondition, Taint } from '../../catalog/types/core.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';

/** The part of a Node that decides about its life. */
export interface NodeFacts {
  readonly name: string;
  readonly uid: string;
  readonly createdMs: number;
  readonly zone: string;
  /** True if the Node does not count for the health of its zone. */
  readonly isExcluded: boolean;
  readonly ready: NodeCondition | undefined;
  readonly taints: readonly Taint[];
}

export function nodeFacts({ metadata, spec, status }: Node, naming: NamingProfile): NodeFacts {
  const { name = '', uid = '', labels = {}, creationTimestamp } = metadata;
  return {
    name,
    uid,
    createdMs: Date.parse(creationTimestamp ?? '') || 0,
    zone: zoneOf(labels, naming),
    isExcluded: Object.hasOwn(labels, naming.label('exclude-disruption', 'node')),
    ready: readyCondition(status?.conditions),
    taints: spec?.taints ?? [],
  };
}

export function readyCondition(conditions: readonly NodeCondition[] | null | undefined): NodeCondition | undefined {
  return (conditions ?? []).find(({ type }) => type === 'Ready');
}

/** Returns the text that kube-controller-manager has in metrics, or an empty one for a Node without both labels. */
function zoneOf(labels: Readonly<Record<string, string>>, naming: NamingProfile): string {
  const [region, zone] = ['region', 'zone'].map((name) => {
    const key = naming.label(name, 'topology');
    return Object.hasOwn(labels, key) ? labels[key]! : '';
  });
  return region === '' && zone === '' ? '' : `${region}:\0:${zone}`;
}
