import type { UserInfo } from '../machinery/user-info.js';

export const auditLevels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type AuditLevel = (typeof auditLevels)[number];

export const auditStages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type AuditStage = (typeof auditStages)[number];

/** Resources that a rule selects. */
export interface GroupResources {
  /** '' is the core group; `*` any group. */
  readonly group: string;
  // Patterns: `pods`, `pods/status`, `pods/*`, `*/status` and `*`; empty: all resources and subresources.
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

/** A rule of an audit policy. An empty list selects everything. */
export interface AuditRule {
  readonly level: AuditLevel;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly GroupResources[];
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
  /** Stages of the rule and of the policy. */
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitManagedFields: boolean;
}

/** The part of a rule that applies to a request. */
export type AuditDecision = Pick<AuditRule, 'level' | 'omitStages' | 'omitManagedFields'>;

/** The content of --audit-policy-file. */
export interface AuditPolicy {
  readonly rules: readonly AuditRule[];
  /** Applies to requests that no rule selects. */
  readonly otherwise: AuditDecision;
}

/** Attributes by which rules select requests. */
export interface AuditAttributes {
  readonly isResourceRequest: boolean;
  readonly path: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** Returns the first rule that selects the request. `user` is undefined if authentication failed. */
export function decide(
  policy: AuditPolicy,
  attributes: AuditAttributes,
  user: Pick<UserInfo, 'name' | 'groups'> | undefined,
): AuditDecision {
  for (const rule of policy.rules) if (selects(rule, attributes, user)) return rule;
  return policy.otherwise;
}

function selects(
  rule: AuditRule,
  attributes: AuditAttributes,
  user: Pick<UserInfo, 'name' | 'groups'> | undefined,
): boolean {
  if (rule.users.length > 0 && !(user && rule.users.includes(user.name))) return false;
  if (rule.userGroups.length > 0 && !user?.groups.some((group) => rule.userGroups.includes(group))) return false;
  if (rule.verbs.length > 0 && !rule.verbs.includes(attributes.verb)) return false;
  if (rule.namespaces.length > 0 || rule.resources.length > 0) return selectsResource(rule, attributes);
  if (rule.nonResourceURLs.length > 0) return selectsPath(rule.nonResourceURLs, attributes);
  return true;
}

function selectsPath(urls: readonly string[], { isResourceRequest, path }: AuditAttributes): boolean {
  if (isResourceRequest) return false;
  return urls.some((url) => url === '*' || url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1))));
}

/** The namespace of requests for cluster-scoped resources is ''. */
function selectsResource({ namespaces, resources }: AuditRule, attributes: AuditAttributes): boolean {
  if (!attributes.isResourceRequest) return false;
  if (namespaces.length > 0 && !namespaces.includes(attributes.namespace)) return false;
  if (resources.length === 0) return true;
  return resources.some(
    (item) =>
      (item.group === '*' || item.group === attributes.group) &&
      (item.resources.length === 0 ||
        ((item.resourceNames.length === 0 || item.resourceNames.includes(attributes.name)) &&
          item.resources.some((pattern) => matchesResource(pattern, attributes)))),
  );
}

function matchesResource(pattern: string, { resource, subresource }: AuditAttributes): boolean {
  if (pattern === '*') return true;
  if (pattern.endsWith('/*') && pattern.slice(0, -2) === resource) return true;
  if (subresource === '') return pattern === resource;
  if (pattern.startsWith('*/') && pattern.slice(2) === subresource) return true;
  return (
    pattern.length === resource.length + 1 + subresource.length &&
    pattern.startsWith(resource) &&
    pattern[resource.length] === '/' &&
    pattern.endsWith(subresource)
  );
}
