import type { ResourceQuota } from '../../catalog/types/core.v1.js';
import type { GroupResource } from '../../machinery/gvk.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { Amounts } from '../amounts.js';
import type { QuotaConfiguration, ScopeRequirement } from '../configuration/quota.configuration.js';
import { limitedNames, viewOfQuota } from './check-quota.js';
import type { Evaluator } from './evaluator.js';
import { scopesOf } from './scopes.js';

interface Requested {
  readonly resource: GroupResource;
  readonly object: KubeObject;
  readonly usage: Amounts;
  readonly evaluator: Evaluator;
  /** The quotas that count the object. */
  readonly quotas: readonly ResourceQuota[];
}

/** Returns the limits that the configuration has for a resource. */
export function limitsOf(
  { limitedResources }: QuotaConfiguration,
  { group, resource }: GroupResource,
): QuotaConfiguration['limitedResources'] {
  return limitedResources.filter((limited) => limited.group === group && limited.resource === resource);
}

/** Returns the error if the configuration allows the resource only where a quota covers it, and no quota does. */
export function uncoveredProblem(configuration: QuotaConfiguration, requested: Requested): string | undefined {
  const { resource, object, usage, evaluator, quotas } = requested;
  const limits = limitsOf(configuration, resource);
  if (limits.length === 0) return undefined;
  const covered = new Set(quotas.flatMap((quota) => [...limitedNames(viewOfQuota(quota), evaluator)]));
  const uncovered = [...usage]
    .filter(
      ([name, amount]) =>
        !amount.isZero && limits.some((limit) => limit.matchContains.some((text) => name.includes(text))),
    )
    .map(([name]) => name)
    .filter((name) => !covered.has(name));
  if (uncovered.length > 0) return `insufficient quota to consume: ${uncovered.sort().join(',')}`;
  const scopes = quotas.flatMap(scopesOf);
  const uncoveredScopes = limits
    .flatMap(({ matchScopes }) => matchScopes)
    .filter(
      (scope) => evaluator.matchesScope(scope, object) && !scopes.some((other) => other.scopeName === scope.scopeName),
    );
  return uncoveredScopes.length === 0
    ? undefined
    : `insufficient quota to match these scopes: [${uncoveredScopes.map(formatScope).join(' ')}]`;
}

function formatScope({ scopeName, operator, values }: ScopeRequirement): string {
  return `{${scopeName} ${operator} [${values.join(' ')}]}`;
}
