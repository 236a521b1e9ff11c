import { goQuote } from '../../machinery/field-error.js';
import type { UserInfo } from '../../machinery/user-info.js';
import type { Authorization, AuthorizationAttributes, Authorizer, ResolvedRules } from '../authorizer.js';
import { ruleAllows, type PolicyRule } from '../rbac/policy-rule.js';
import type { RoleBook, RoleRef } from '../rbac/role-book.js';

/** Rules only ever grant: who has been given a role that allows it may do it, and nobody is refused by a rule. */
export class RbacAuthorizer implements Authorizer {
  readonly name = 'RBAC';

  constructor(
    private readonly book: RoleBook,
    private readonly group: string,
  ) {}

  authorize(attributes: AuthorizationAttributes): Authorization {
    const missing = new Set<string>();
    // Paths outside of all objects are granted everywhere or not at all.
    const namespace = attributes.isResourceRequest ? attributes.namespace : '';
    for (const grant of this.book.grantsOf(attributes.user, namespace)) {
      const rules = this.book.rulesOf(grant.role, grant.namespace);
      if (!rules) missing.add(this.notFound(grant.role));
      else if (rules.some((rule) => ruleAllows(rule, attributes))) {
        return { decision: 'allow', reason: `RBAC: allowed by ${grant.description}` };
      }
    }
    return { decision: 'no opinion', reason: missing.size > 0 ? `RBAC: ${listed([...missing])}` : '' };
  }

  rulesFor(user: UserInfo, namespace: string): ResolvedRules {
    const { rules, problem } = this.heldBy(user, namespace);
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

  /** All rules that a user has been given, and which roles could not be found. */
  heldBy(user: UserInfo, namespace: string): { readonly rules: readonly PolicyRule[]; readonly problem?: string } {
    const rules: PolicyRule[] = [];
    const missing = new Set<string>();
    for (const { role, namespace: place } of this.book.grantsOf(user, namespace)) {
      const found = this.book.rulesOf(role, place);
      if (found) rules.push(...found);
      else missing.add(this.notFound(role));
    }
    return { rules, ...(missing.size > 0 && { problem: listed([...missing]) }) };
  }

  private notFound({ kind, name }: RoleRef): string {
    return `${kind.toLowerCase()}.${this.group} ${goQuote(name)} not found`;
  }
}

const listed = (problems: readonly string[]) => (problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`);
