import { deepEqual } from '../../../machinery/deep-equal.js';
import { asFields, asItems, type Fields } from '../../../machinery/fields.js';
import type { KubeObject } from '../../../machinery/kube-object.js';
import { missingRules } from '../../../machinery/policy-escalation.js';
import { policyRuleOf } from '../../../machinery/policy-rule.js';

/**
 * What a later start does with a role or binding that is there: what is missing of it is added, and nothing is taken
 * away, since an operator may have given more. The same object when nothing is missing.
 */
export function putRight(current: KubeObject, wanted: KubeObject): KubeObject {
  const next = {
    ...current,
    metadata: {
      ...current.metadata,
      labels: { ...wanted.metadata.labels, ...current.metadata.labels },
      annotations: { ...wanted.metadata.annotations, ...current.metadata.annotations },
    },
    ...added(current, wanted),
  };
  return deepEqual(next, current) ? current : next;
}

function added(current: KubeObject, wanted: KubeObject): Fields {
  if (wanted['roleRef'] !== undefined) return longer(current, wanted, 'subjects');
  if (wanted['aggregationRule'] === undefined) return withRules(current, wanted);
  // The rules are those of others: who follows these keeps them.
  const rules = asFields(current['aggregationRule']);
  return {
    aggregationRule: { ...rules, ...longer(rules, asFields(wanted['aggregationRule']), 'clusterRoleSelectors') },
  };
}

/** A rule is not missing where others allow the same, however they are written. */
function withRules(current: KubeObject, wanted: KubeObject): Fields {
  if (deepEqual(current['rules'], wanted['rules'])) return {};
  const rules = asItems(current['rules']);
  const held = rules.map(policyRuleOf);
  const isMissing = (rule: Fields) => missingRules([policyRuleOf(rule)], held)?.length !== 0;
  const missing = asItems(wanted['rules']).filter(isMissing);
  return missing.length > 0 ? { rules: [...rules, ...missing] } : {};
}

function longer(current: Fields, wanted: Fields, field: string): Fields {
  const items = asItems(current[field]);
  const missing = asItems(wanted[field]).filter((item) => !items.some((known) => deepEqual(known, item)));
  return missing.length > 0 ? { [field]: [...items, ...missing] } : {};
}

/** The role of a binding cannot be changed: one that gives another role is made again. */
export function givesAnother(current: KubeObject, wanted: KubeObject): boolean {
  return !deepEqual(current['roleRef'], wanted['roleRef']);
}
