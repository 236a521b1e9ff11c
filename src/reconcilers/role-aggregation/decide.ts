import { deepEqual } from '../../machinery/deep-equal.js';
import { asFields, asItems, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { labelSelectorOf, type LabelSelector, type LabelSelectorObject } from '../../machinery/label-selector.js';

export function gathersRules(role: KubeObject): boolean {
  return selectorsOf(role).length > 0;
}

/** Which ClusterRoles lend their rules, one selector after the other. */
export function selectorsOf(role: KubeObject): LabelSelector[] {
  const selectors = asItems(asFields(role['aggregationRule'])['clusterRoleSelectors']);
  return selectors.map((selector) => labelSelectorOf(selector as LabelSelectorObject));
}

/**
 * The rules of all roles that a selector of this one chooses, in the order of selectors and then of names, each rule
 * once. A role that chooses itself gains nothing by it, and could lose no rule ever again.
 */
export function gatheredRules(role: KubeObject, all: readonly KubeObject[]): Fields[] {
  const others = all.filter(({ metadata }) => metadata.name !== role.metadata.name).sort(byName);
  const chosen = selectorsOf(role).flatMap((selector) =>
    others.filter(({ metadata }) => selector.matches(metadata.labels)),
  );
  const rules: Fields[] = [];
  for (const rule of chosen.flatMap((other) => asItems(other['rules']))) {
    if (!rules.some((known) => deepEqual(known, rule))) rules.push(rule);
  }
  return rules;
}

/** The role with the rules that it should have: the same object when it has them. */
export function withGatheredRules(role: KubeObject, all: readonly KubeObject[]): KubeObject {
  if (!gathersRules(role)) return role;
  const rules = gatheredRules(role, all);
  return deepEqual(rules, asItems(role['rules'])) ? role : { ...role, rules };
}

function byName({ metadata: { name: a = '' } }: KubeObject, { metadata: { name: b = '' } }: KubeObject): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
