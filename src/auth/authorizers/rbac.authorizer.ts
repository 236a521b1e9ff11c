import { listed } from '../../machinery/listed.js';
import { ruleAllows } from '../../machinery/policy-rule.js';
import type { UserInfo } from '../../machinery/user-info.js';
import type { Authorization, AuthorizationAttributes, Authorizer, ResolvedRules } from '../authorizer.js';
import type { HeldRules } from '../rbac/held-rules.js';

/** Rules only ever grant: who has been given a role that allows it may do it, and nobody is refused by a rule. */
export class RbacAuthorizer implements Authorizer {
  readonly name = 'RBAC';

  constructor(private readonly held: HeldRules) {}

  authorize(attributes: AuthorizationAttributes): Authorization {
    const { held } = this;
    const missing = new Set<string>();
    // Paths outside of all objects are granted everywhere or not at all.
    const namespace = attributes.isResourceRequest ? attributes.namespace : '';
    for (const { role, namespace: place, description } of held.grantsOf(attributes.user, namespace)) {
      const rules = held.rulesOf(role, place);
      if (!rules) missing.add(held.notFound(role));
      else if (rules.some((rule) => ruleAllows(rule, attributes))) {
        return { decision: 'allow', reason: `RBAC: allowed by ${description}` };
      }
    }
    return { decision: 'no opinion', reason: missing.size > 0 ? `RBAC: ${listed([...missing])}` : '' };
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
