import { bootstrapTokenName, parseBootstrapToken } from '../../auth/bootstrap-tokens.js';
import { isGenuine, readJwt } from '../../auth/jwt.js';
import type { RequestAuthenticator } from '../../auth/request-authenticator.js';
import type { ServerConfig } from '../../config/server-config.js';
import type { AnyRequest } from '../../connections/raw-messages.js';
import { clusterPrefix, storedTokenKeys } from '../../logical-clusters/cluster-keys.js';
import type { ClusterIdentity } from '../../logical-clusters/logical-clusters.js';
import type { KvStore } from '../../storage/kv-store.js';
import { isPrivileged } from './cluster-authenticator.js';

interface Dependencies {
  readonly rootAuthenticator: Pick<RequestAuthenticator, 'authenticate'>;
  readonly store: KvStore;
  readonly config: Pick<ServerConfig, 'storage' | 'naming' | 'authentication'>;
}

/**
 * Decides whose requests wake a logical cluster: whoever has no account could otherwise keep the server busy. Reads one key
 * of the store, since the authenticators of the cluster are not in memory. Tokens that have expired or were revoked wake it,
 * too, and are rejected then.
 */
export class WakingCredentials {
  constructor(private readonly dependencies: Dependencies) {}

  async permit(request: AnyRequest, { uid }: ClusterIdentity): Promise<boolean> {
    const token = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
    if (token !== undefined && (await this.isIssuedBy(uid, token))) return true;
    const user = await this.dependencies.rootAuthenticator.authenticate(request, request.url ?? '/');
    return user !== undefined && isPrivileged(user);
  }

  private async isIssuedBy(uid: string, token: string): Promise<boolean> {
    const { store, config } = this.dependencies;
    const prefix = clusterPrefix(config.storage.etcd.prefix, uid);
    const bootstrap = config.authentication.bootstrapTokens ? parseBootstrapToken(token) : undefined;
    if (bootstrap) {
      const namespace = config.naming.systemNamespace('system');
      const secret = `${prefix}registry/secrets/${namespace}/${bootstrapTokenName(bootstrap.id)}`;
      return (await store.get(secret)).item !== undefined;
    }
    const jwt = readJwt(token);
    const keys = jwt && (await storedTokenKeys(store, prefix));
    return keys !== undefined && isGenuine(jwt!, keys);
  }
}
