import { nameIsDnsLabel, nameIsDnsSubdomain } from './names.js';

/** Who asks. Authenticators make it, impersonation replaces it, authorizers and admission read it. */
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
/** Whoever proved an identity, of whatever kind. */
export const allAuthenticated = 'system:authenticated';
export const allUnauthenticated = 'system:unauthenticated';

export const groupNames = {
  nodes: 'system:nodes',
  serviceAccounts: 'system:serviceaccounts',
  monitoring: 'system:monitoring',
  bootstrappers: 'system:bootstrappers',
} as const;

const serviceAccountPrefix = 'system:serviceaccount:';

export const anonymousUser: UserInfo = {
  name: userNames.anonymous,
  uid: '',
  groups: [allUnauthenticated],
  extra: {},
};

/** The server itself, when its own controllers act through the front door. */
export const loopbackUser: UserInfo = {
  name: userNames.apiServer,
  uid: '',
  groups: [allAuthenticated, privilegedGroup],
  extra: {},
};

export function serviceAccountUserName(namespace: string, name: string): string {
  return `${serviceAccountPrefix}${namespace}:${name}`;
}

/** The ServiceAccount behind a user name, or undefined when it is somebody else's. */
export function parseServiceAccountUserName(userName: string): { namespace: string; name: string } | undefined {
  if (!userName.startsWith(serviceAccountPrefix)) return undefined;
  const parts = userName.slice(serviceAccountPrefix.length).split(':');
  const [namespace = '', name = ''] = parts;
  // Other names are those of users: no account could have them.
  const isAccount =
    parts.length === 2 && nameIsDnsLabel(namespace).length === 0 && nameIsDnsSubdomain(name).length === 0;
  return isAccount ? { namespace, name } : undefined;
}

export function serviceAccountGroups(namespace: string): readonly string[] {
  return [groupNames.serviceAccounts, `${groupNames.serviceAccounts}:${namespace}`];
}
