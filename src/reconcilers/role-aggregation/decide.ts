import type { LabelSelector } from '../../catalog/types/meta.v1.js';
import type { ClusterRole, PolicyRule } from '../../catalog/types/rbac.v1.js';
import { countValues } from '../../machinery/count-values.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { labelSelectorOf } from '../../machinery/label-selector-object.js';
import type { Labels } from '../../machinery/label-selector.js';
import { distinctValues, valueKey } from '../../machinery/value-key.js';
import { atOnce, type Steps } from '../../std/steps.js';
import type { YieldTimer } from '../../std/yield-timer.js';

/** A cached ClusterRole, parsed only if a selector matches it. */
export interface CachedRole {
  readonly attributes: { readonly name: string; readonly labels: Labels | undefined };
  parse(): ClusterRole;
}

interface AggregationLimits {
  /** Limit on the JSON values of the aggregated rules: that of a request. */
  readonly valuesMax: number;
  /** Lets other requests run between two selectors and between two roles. */
  readonly timer: YieldTimer;
}

export function aggregatesRules(role: ClusterRole): boolean {
  return selectorsOf(role).length > 0;
}

/**
 * Returns the rules of all roles that the aggregationRule selects, ordered by selector and name, without duplicates;
 * undefined if they exceed the limit. The role's own rules are not included, since they could then never be removed.
 */
export async function aggregateRules(
  role: ClusterRole,
  all: readonly CachedRole[],
  { valuesMax, timer }: AggregationLimits,
): Promise<PolicyRule[] | undefined> {
  return timer.run(aggregateInSteps(role, all, valuesMax));
}

/** aggregateRules() without a limit and without interruption, for the few initial roles. */
export function aggregateRulesNow(role: ClusterRole, all: readonly CachedRole[]): PolicyRule[] {
  return atOnce(aggregateInSteps(role, all, Infinity))!;
}

function* aggregateInSteps(
  role: ClusterRole,
  all: readonly CachedRole[],
  valuesMax: number,
): Steps<PolicyRule[] | undefined> {
  const rules = new Map<string, PolicyRule>();
  let values = 0;
  for (const source of yield* selectRoles(role, all)) {
    for (const rule of source.parse().rules ?? []) {
      const key = valueKey(rule);
      if (rules.has(key)) continue;
      values += countValues(rule, valuesMax);
      if (values > valuesMax) return undefined;
      rules.set(key, rule);
    }
    yield;
  }
  return [...rules.values()];
}

/** Returns the role with these rules; the same object if it has them already. */
export function withRules<Role extends ClusterRole>(role: Role, rules: readonly PolicyRule[]): Role {
  return deepEqual(rules, role.rules ?? []) ? role : { ...role, rules };
}

/** Compares each distinct selector with the roles that no earlier selector has matched. */
function* selectRoles(role: ClusterRole, all: readonly CachedRole[]): Steps<CachedRole[]> {
  const selected: CachedRole[] = [];
  let others = all.filter(({ attributes }) => attributes.name !== role.metadata.name).sort(byName);
  for (const object of distinctValues(selectorsOf(role))) {
    if (others.length === 0) break;
    const selector = labelSelectorOf(object);
    const rest: CachedRole[] = [];
    for (const other of others) (selector.matches(other.attributes.labels) ? selected : rest).push(other);
    others = rest;
    yield;
  }
  return selected;
}

function selectorsOf({ aggregationRule }: ClusterRole): readonly LabelSelector[] {
  return aggregationRule?.clusterRoleSelectors ?? [];
}

const byName = ({ attributes: { name: a } }: CachedRole, { attributes: { name: b } }: CachedRole): number =>
  a < b ? -1 : a > b ? 1 : 0;
