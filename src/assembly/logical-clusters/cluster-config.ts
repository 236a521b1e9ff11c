import type { ServerConfig } from '../../config/server-config.js';
import type { ClusterIdentity } from '../../logical-clusters/logical-clusters.js';
import { clusterPrefix } from '../../logical-clusters/cluster-keys.js';

/** One cluster may have this part of the requests in flight of the server. */
const partOfRequests = 4;

/**
 * Returns the configuration of a logical cluster. What the root trusts is not in it: files of users, issuers, webhooks and
 * their credentials.
 */
export function clusterConfig(root: ServerConfig, { name, uid }: ClusterIdentity): ServerConfig {
  const { storage, authentication, authorization, admission, flow, faults } = root;
  const issuer = `${authentication.serviceAccount.issuers[0]!.replace(/\/+$/, '')}/clusters/${name}`;
  const share = (limit: number) => Math.ceil(limit / partOfRequests);
  return {
    ...root,
    kubeconfigOut: undefined,
    storage: {
      ...storage,
      etcd: { ...storage.etcd, prefix: `${clusterPrefix(storage.etcd.prefix, uid)}registry` },
    },
    authentication: {
      ...authentication,
      anonymous: authentication.anonymous && authentication.configFile === undefined,
      configFile: undefined,
      tokenAuthFile: undefined,
      clientCaFile: undefined,
      apiAudiences: [issuer],
      serviceAccount: { ...authentication.serviceAccount, issuers: [issuer], keysUri: undefined, looksUp: true },
    },
    authorization: { ...authorization, modes: ['RBAC'], configFile: undefined, policyFile: undefined },
    admission: { ...admission, controlConfigFile: undefined },
    flow: {
      ...flow,
      priorityAndFairness: false,
      requestsInFlightMax: share(flow.requestsInFlightMax),
      mutatingRequestsInFlightMax: share(flow.mutatingRequestsInFlightMax),
    },
    faults: { ...faults, allowed: false, planFile: undefined },
    profiling: false,
  };
}
