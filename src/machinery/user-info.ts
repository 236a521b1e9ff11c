import { nameIsDnsLabel, nameIsDnsSubdomain } from './names.js';

/** The user of a request. Created by authenticators, replaced by impersonation, read by authorizers and admission. */
export interface UserInfo {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

export const userNames = {
  anonymous: 'system:anonymous',
  apiServer: 'system:apiserver',
  controllerManager: 'system:kube-controller-manager',
  scheduler: 'system:kube-scheduler',
} as const;

/** Members pass every authorization check. */
export const privilegedGroup = 'system:masters';
/** The group of all authenticated users. */
export const allAuthenticated = 'system:authenticated';
export const allUnauthenticated = 'system:unauthenticated';

export const groupNames = {
  nodes: 'system:nodes',
  serviceAccounts: 'system:serviceaccounts',
  monitoring: 'system:monitoring',
  bootstrappers: 'system:bootstrappers',
} as const;

export const nodeUserPrefix = 'system:node:';

/** Returns the node that the user acts as; '' for a member of system:nodes without a node name, undefined for others. */
export function nodeOf({ name, groups }: Pick<UserInfo, 'name' | 'groups'>): string | undefined {
  if (!groups.includes(groupNames.nodes)) return undefined;
  return name.startsWith(nodeUserPrefix) ? name.slice(nodeUserPrefix.length) : '';
}

const serviceAccountPrefix = 'system:serviceaccount:';

export const anonymousUser: UserInfo = {
  name: userNames.anonymous,
  uid: '',
  groups: [allUnauthenticated],
  extra: {},
};

/** The server itself, for its own controllers. */
export const loopbackUser: UserInfo = {
  name: userNames.apiServer,
  uid: '',
  groups: [allAuthenticated, privilegedGroup],
  extra: {},
};

export function serviceAccountUserName(namespace: string, name: string): string {
  return `${serviceAccountPrefix}${namespace}:${name}`;
}

/** Returns the ServiceAccount of a user name; undefined for other users. */
export function parseServiceAccountUserName(userName: string): { namespace: string; name: string } | undefined {
  if (!userName.startsWith(serviceAccountPrefix)) return undefined;
  const parts = userName.slice(serviceAccountPrefix.length).split(':');
  const [namespace = '', name = ''] = parts;
  // Names that no ServiceAccount can have are those of other users.
  const isAccount =
    parts.length === 2 && nameIsDnsLabel(namespace).length === 0 && nameIsDnsSubdomain(name).length === 0;
  return isAccount ? { namespace, name } : undefined;
}

export function serviceAccountGroups(namespace: string): readonly string[] {
  return [groupNames.serviceAccounts, `${groupNames.serviceAccounts}:${namespace}`];
}
