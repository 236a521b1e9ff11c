/** One rule of a role. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** A rule as objects have it: absent lists are empty. */
type WrittenRule = { readonly [Field in keyof PolicyRule]?: PolicyRule[Field] | null | undefined };

export function policyRuleOf(rule: WrittenRule): PolicyRule {
  return {
    verbs: rule.verbs ?? [],
    apiGroups: rule.apiGroups ?? [],
    resources: rule.resources ?? [],
    resourceNames: rule.resourceNames ?? [],
    nonResourceURLs: rule.nonResourceURLs ?? [],
  };
}

/** The role that a binding refers to. */
export interface RoleRef {
  readonly kind: 'Role' | 'ClusterRole';
  readonly name: string;
}

/** A RoleBinding or ClusterRoleBinding. */
interface Binding {
  readonly roleRef?: { readonly kind?: string | undefined; readonly name?: string | undefined } | undefined;
}

export function roleRefOf({ roleRef: { kind, name = '' } = {} }: Binding): RoleRef {
  return { kind: kind === 'Role' ? 'Role' : 'ClusterRole', name };
}

interface RequestAttributes {
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  readonly path: string;
}

export function ruleAllows(rule: PolicyRule, asked: RequestAttributes): boolean {
  if (!namesOrAll(rule.verbs, asked.verb)) return false;
  if (!asked.isResourceRequest) return rule.nonResourceURLs.some((url) => urlMatches(url, asked.path));
  const { resource, subresource, name } = asked;
  return (
    namesOrAll(rule.apiGroups, asked.group) &&
    rule.resources.some((named) => resourceMatches(named, resource, subresource)) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(name))
  );
}

const namesOrAll = (names: readonly string[], name: string) => names.includes('*') || names.includes(name);

/** Matches `pods`, `pods/log`, `*` for everything, and `*` followed by `/scale` for one subresource of every resource. */
function resourceMatches(named: string, resource: string, subresource: string): boolean {
  if (named === '*') return true;
  if (subresource === '') return named === resource;
  return named === `${resource}/${subresource}` || named === `*/${subresource}`;
}

/** Matches `/healthz`, or `/healthz/*` for all paths with this prefix. */
export function urlMatches(named: string, path: string): boolean {
  return named === '*' || named === path || (named.endsWith('*') && path.startsWith(named.slice(0, -1)));
}
