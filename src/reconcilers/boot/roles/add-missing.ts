import type { ClusterRole, RoleBinding } from '../../../catalog/types/rbac.v1.js';
import { deepEqual } from '../../../machinery/deep-equal.js';
import { missingRules } from '../../../machinery/policy-escalation.js';
import { policyRuleOf } from '../../../machinery/policy-rule.js';

/** A role or a binding, in a namespace or of the cluster. */
export type RbacObject = ClusterRole & RoleBinding;

/**
 * Adds what an existing role or binding lacks: rules, selectors, subjects, labels and annotations. Removes nothing, since
 * operators may have added to it. Returns the same object if nothing is missing.
 */
export function addMissing(current: RbacObject, wanted: RbacObject): RbacObject {
  const next = {
    ...current,
    metadata: {
      ...current.metadata,
      labels: { ...wanted.metadata.labels, ...current.metadata.labels },
      annotations: { ...wanted.metadata.annotations, ...current.metadata.annotations },
    },
    ...addedFields(current, wanted),
  };
  return deepEqual(next, current) ? current : next;
}

function addedFields(current: RbacObject, wanted: RbacObject): Partial<RbacObject> {
  if (wanted.roleRef !== undefined) {
    const subjects = extended(current.subjects, wanted.subjects);
    return subjects ? { subjects } : {};
  }
  const { aggregationRule } = wanted;
  if (aggregationRule === undefined) return addedRules(current, wanted);
  // Rules are not added: the aggregation reconciler writes them.
  const before = current.aggregationRule;
  const clusterRoleSelectors = extended(before?.clusterRoleSelectors, aggregationRule.clusterRoleSelectors);
  return { aggregationRule: { ...before, ...(clusterRoleSelectors && { clusterRoleSelectors }) } };
}

/** A rule is missing unless the present rules together allow the same. */
function addedRules(current: RbacObject, wanted: RbacObject): Partial<RbacObject> {
  if (deepEqual(current.rules, wanted.rules)) return {};
  const rules = current.rules ?? [];
  const held = rules.map(policyRuleOf);
  const missing = (wanted.rules ?? []).filter((rule) => missingRules([policyRuleOf(rule)], held)?.length !== 0);
  return missing.length > 0 ? { rules: [...rules, ...missing] } : {};
}

/** Returns the list with the missing items; undefined if none is missing. */
function extended<Item>(current: readonly Item[] = [], wanted: readonly Item[] = []): Item[] | undefined {
  const missing = wanted.filter((item) => !current.some((known) => deepEqual(known, item)));
  return missing.length > 0 ? [...current, ...missing] : undefined;
}

/** True if the bindings refer to different roles. A roleRef cannot be changed, so that the binding is created again. */
export function hasOtherRole(current: RbacObject, wanted: RbacObject): boolean {
  return !deepEqual(current.roleRef, wanted.roleRef);
}
