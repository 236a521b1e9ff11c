import { listed } from '../../machinery/listed.js';
import { ruleAllows } from '../../machinery/policy-rule.js';
import type { UserInfo } from '../../machinery/user-info.js';
import type { Authorization, AuthorizationAttributes, Authorizer, GrantDetails, ResolvedRules } from '../authorizer.js';
import type { HeldRules } from '../rbac/held-rules.js';

/**
 * Allows requests by the roles that are bound to the user. RBAC never denies: without a matching rule it has no
 * opinion.
 */
export class RbacAuthorizer implements Authorizer {
  readonly name = 'RBAC';

  constructor(private readonly held: HeldRules) {}

  authorize(attributes: AuthorizationAttributes): Authorization {
    const { held } = this;
    const missing = new Set<string>();
    // Non-resource URLs are granted by ClusterRoleBindings only.
    const namespace = attributes.isResourceRequest ? attributes.namespace : '';
    for (const { role, namespace: roleNamespace, description } of held.grantsOf(attributes.user, namespace)) {
      const rules = held.rulesOf(role, roleNamespace);
      if (!rules) missing.add(held.notFound(role));
      else if (rules.some((rule) => ruleAllows(rule, attributes))) {
        return { decision: 'allow', reason: `RBAC: allowed by ${description}` };
      }
    }
    return { decision: 'no opinion', reason: missing.size > 0 ? `RBAC: ${listed([...missing])}` : '' };
  }

  grantFor(attributes: AuthorizationAttributes): GrantDetails | undefined {
    const namespace = attributes.isResourceRequest ? attributes.namespace : '';
    for (const { role, binding, namespace: bound } of this.held.grantsOf(attributes.user, namespace)) {
      const rule = this.held.rulesOf(role, bound)?.find((one) => ruleAllows(one, attributes));
      if (!rule) continue;
      const inNamespace = bound !== '' && { namespace: bound };
      return {
        binding: { kind: bound === '' ? 'ClusterRoleBinding' : 'RoleBinding', ...inNamespace, name: binding },
        role: { kind: role.kind, ...(role.kind === 'Role' && inNamespace), name: role.name },
        rule,
      };
    }
    return undefined;
  }

  rulesFor(user: UserInfo, namespace: string): ResolvedRules {
    const { rules, problem } = this.held.heldBy(user, namespace);
    return {
      resourceRules: rules
        .filter(({ resources }) => resources.length > 0)
        .map(({ verbs, apiGroups, resources, resourceNames }) => ({
          verbs,
          apiGroups,
          resources,
          ...(resourceNames.length > 0 && { resourceNames }),
        })),
      nonResourceRules: rules
        .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
        .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
      ...(problem !== undefined && { problem }),
    };
  }
}
