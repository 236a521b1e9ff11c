import type { RequestAuthenticator } from '../../auth/request-authenticator.js';
import { allUnauthenticated, privilegedGroup, type UserInfo } from '../../machinery/user-info.js';

type Authenticate = Pick<RequestAuthenticator, 'authenticate'>;
type Arguments = Parameters<RequestAuthenticator['authenticate']>;

/**
 * Authenticates requests for a logical cluster: by the credentials that the cluster has issued, else by those of the root, of
 * whose users only members of system:masters are served. All other users of the root are unknown to the cluster.
 */
export class ClusterAuthenticator implements Authenticate {
  constructor(
    private readonly own: Authenticate,
    private readonly root: Authenticate,
  ) {}

  authenticate(...[raw, path, request]: Arguments): UserInfo | undefined | Promise<UserInfo | undefined> {
    const own = this.own.authenticate(raw, path, request);
    if (own instanceof Promise) return own.then((user) => this.orRoot(user, raw, path));
    return this.orRoot(own, raw, path);
  }

  private orRoot(own: UserInfo | undefined, raw: Arguments[0], path: string) {
    if (own && !isAnonymous(own)) return own;
    const root = this.root.authenticate(raw, path);
    return root instanceof Promise ? root.then((user) => chosen(own, user)) : chosen(own, root);
  }
}

/** Returns the user of a request that the cluster does not know itself. */
function chosen(own: UserInfo | undefined, root: UserInfo | undefined): UserInfo | undefined {
  if (!root || isAnonymous(root)) return own;
  return isPrivileged(root) ? root : undefined;
}

export const isPrivileged = ({ groups }: UserInfo): boolean => groups.includes(privilegedGroup);

const isAnonymous = ({ groups }: UserInfo): boolean => groups.includes(allUnauthenticated);
