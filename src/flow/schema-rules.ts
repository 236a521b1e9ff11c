import type {
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from '../catalog/types/flowcontrol.v1.js';
import type { RequestInfo } from '../machinery/request-info.js';
import { serviceAccountUserName, type UserInfo } from '../machinery/user-info.js';

type Names = readonly string[] | null | undefined;

/** The rules of a FlowSchema whose subjects include one user. */
interface RulesOfUser {
  readonly resource: readonly ResourcePolicyRule[];
  readonly nonResource: readonly NonResourcePolicyRule[];
}

export function rulesOfUser(rules: readonly PolicyRulesWithSubjects[], user: UserInfo): RulesOfUser {
  const own = rules.filter(({ subjects }) => subjects?.some((subject) => isSubject(subject, user)));
  return {
    resource: own.flatMap(({ resourceRules }) => resourceRules ?? []),
    nonResource: own.flatMap(({ nonResourceRules }) => nonResourceRules ?? []),
  };
}

function isSubject({ kind, user, group, serviceAccount }: Subject, { name, groups }: UserInfo): boolean {
  switch (kind) {
    case 'User':
      return user !== undefined && (user.name === '*' || user.name === name);
    case 'Group':
      return group !== undefined && (group.name === '*' || groups.includes(group.name ?? ''));
    case 'ServiceAccount': {
      if (!serviceAccount) return false;
      const { namespace = '', name: account = '' } = serviceAccount;
      if (account === '*') return name.startsWith(serviceAccountUserName(namespace, ''));
      return name === serviceAccountUserName(namespace, account);
    }
    default:
      return false;
  }
}

/** True for a rule that matches all requests for resources. */
export function matchesAllResources({ verbs, apiGroups, resources, clusterScope, namespaces }: ResourcePolicyRule) {
  return hasAll(verbs) && hasAll(apiGroups) && hasAll(resources) && clusterScope === true && hasAll(namespaces);
}

export function matchesAllPaths({ verbs, nonResourceURLs }: NonResourcePolicyRule): boolean {
  return hasAll(verbs) && hasAll(nonResourceURLs);
}

export function matchesResource(rule: ResourcePolicyRule, info: RequestInfo): boolean {
  if (!includes(rule.verbs, info.verb) || !includes(rule.apiGroups, info.group)) return false;
  const { resource, subresource, namespace } = info;
  if (!includes(rule.resources, subresource === '' ? resource : `${resource}/${subresource}`)) return false;
  return namespace === '' ? rule.clusterScope === true : includes(rule.namespaces, namespace);
}

export function matchesPath({ verbs, nonResourceURLs }: NonResourcePolicyRule, { verb, path }: RequestInfo): boolean {
  if (!includes(verbs, verb)) return false;
  return (nonResourceURLs ?? []).some((url) => {
    if (url === '*' || url === path) return true;
    const prefix = url.endsWith('*') ? url.slice(0, -1) : url;
    return path.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`);
  });
}

const hasAll = (names: Names): boolean => names?.includes('*') === true;
const includes = (names: Names, name: string): boolean =>
  names !== null && names !== undefined && (names.includes(name) || names.includes('*'));
