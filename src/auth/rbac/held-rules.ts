import { goQuote } from '../../machinery/field-error.js';
import { listed } from '../../machinery/listed.js';
import type { UserInfo } from '../../machinery/user-info.js';
import type { PolicyRule, RoleRef } from '../../machinery/policy-rule.js';
import type { Grant, RoleBook } from './role-book.js';

/** Resolves the RBAC rules of users from their bindings and roles. */
export class HeldRules {
  constructor(
    private readonly book: RoleBook,
    private readonly group: string,
  ) {}

  grantsOf(user: UserInfo, namespace: string): Iterable<Grant> {
    return this.book.grantsOf(user, namespace);
  }

  /** Returns the rules of a role, undefined if it does not exist. */
  rulesOf(role: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.book.rulesOf(role, namespace);
  }

  /** Returns all rules of a user, and a problem that names roles that do not exist. */
  heldBy(user: UserInfo, namespace: string): { readonly rules: readonly PolicyRule[]; readonly problem?: string } {
    const rules: PolicyRule[] = [];
    const missing = new Set<string>();
    for (const { role, namespace: roleNamespace } of this.book.grantsOf(user, namespace)) {
      const found = this.book.rulesOf(role, roleNamespace);
      if (found) rules.push(...found);
      else missing.add(this.notFound(role));
    }
    return { rules, ...(missing.size > 0 && { problem: listed([...missing]) }) };
  }

  notFound({ kind, name }: RoleRef): string {
    return `${kind.toLowerCase()}.${this.group} ${goQuote(name)} not found`;
  }
}
