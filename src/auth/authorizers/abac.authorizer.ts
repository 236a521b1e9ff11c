import type { UserInfo } from '../../machinery/user-info.js';
import type { AbacPolicy } from '../abac/policy-file.js';
import type { Authorization, AuthorizationAttributes, Authorizer, ResolvedRules } from '../authorizer.js';

const readVerbs: readonly string[] = ['get', 'list', 'watch'];
const allowed: Authorization = { decision: 'allow', reason: '' };
const noMatch: Authorization = { decision: 'no opinion', reason: 'No policy matched.' };

/** Allows requests by the policies of a file. It never denies. */
export class AbacAuthorizer implements Authorizer {
  readonly name = 'ABAC';
  private readonly ofUser = new Map<string, AbacPolicy[]>();
  /** Policies without a user. */
  private readonly ofGroup = new Map<string, AbacPolicy[]>();

  constructor(policies: readonly AbacPolicy[]) {
    for (const policy of policies) {
      if (policy.user !== '') add(this.ofUser, policy.user, policy);
      else if (policy.group !== '') add(this.ofGroup, policy.group, policy);
    }
  }

  authorize(attributes: AuthorizationAttributes): Authorization {
    for (const policy of this.policiesOf(attributes.user)) if (allows(policy, attributes)) return allowed;
    return noMatch;
  }

  rulesFor(user: UserInfo, namespace: string): ResolvedRules {
    const policies = [...this.policiesOf(user)];
    const verbsOf = ({ isReadOnly }: AbacPolicy) => (isReadOnly ? readVerbs : ['*']);
    return {
      resourceRules: policies
        .filter((policy) => matches(policy.namespace, namespace))
        .map((policy) => ({ verbs: verbsOf(policy), apiGroups: [policy.apiGroup], resources: [policy.resource] })),
      nonResourceRules: policies
        .filter(({ nonResourcePath }) => nonResourcePath !== '')
        .map((policy) => ({ verbs: verbsOf(policy), nonResourceURLs: [policy.nonResourcePath] })),
    };
  }

  private *policiesOf({ name, groups }: UserInfo): Generator<AbacPolicy, void> {
    for (const policy of this.ofUser.get(name) ?? []) {
      if (policy.group === '' || groups.includes(policy.group)) yield policy;
    }
    for (const group of new Set(groups)) yield* this.ofGroup.get(group) ?? [];
  }
}

function add(policies: Map<string, AbacPolicy[]>, subject: string, policy: AbacPolicy): void {
  const found = policies.get(subject);
  if (found) found.push(policy);
  else policies.set(subject, [policy]);
}

function allows(policy: AbacPolicy, asked: AuthorizationAttributes): boolean {
  if (policy.isReadOnly && !readVerbs.includes(asked.verb)) return false;
  if (!asked.isResourceRequest) return pathMatches(policy.nonResourcePath, asked.path);
  return (
    matches(policy.namespace, asked.namespace) &&
    matches(policy.resource, asked.resource) &&
    matches(policy.apiGroup, asked.group)
  );
}

const matches = (pattern: string, value: string): boolean => pattern === '*' || pattern === value;

function pathMatches(pattern: string, path: string): boolean {
  if (pattern === '*' || pattern === path) return true;
  return pattern.endsWith('*') && path.startsWith(pattern.replace(/\*+$/, ''));
}
