import { accepted, unserved, used, type FlagTopic } from '../flag.js';
import { reconcilerNames } from '../reconciler-names.js';

export const endpointReconcilers = ['lease', 'master-count', 'none'] as const;
export const namingProfiles = ['kubernetes', 'svc'] as const;
export const leaderElections = ['auto', 'true', 'false'] as const;
export const signerKeys = ['token', 'secret'] as const;

export const clusterFlags: FlagTopic = {
  title: 'Cluster',
  flags: [
    used(
      'service-cluster-ip-range',
      'list',
      '10.0.0.0/24',
      'network.serviceClusterIpRanges',
      'CIDR of Service addresses; two, one an IP family, for dual stack',
    ),
    used(
      'service-node-port-range',
      'portRange',
      '30000-32767',
      'network.serviceNodePorts',
      'ports of NodePort Services, both ends included',
    ),
    used(
      'kubernetes-service-node-port',
      'int',
      '0',
      'network.serverServiceNodePort',
      "node port of the server's own Service; 0 makes it a ClusterIP",
    ),
    used(
      'endpoint-reconciler-type',
      'string',
      'lease',
      'network.endpointReconciler',
      'whether the server writes itself into the endpoints of its own Service; none does not',
      { choices: endpointReconcilers },
    ),
    used('event-ttl', 'duration', '1h0m0s', 'reconcilers.eventTtlMs', 'how long Events are kept'),
    used(
      'controllers',
      'list',
      '*',
      'reconcilers.controllers',
      `reconcilers to run: * is all, -* none, name adds one, -name removes one; known are ${reconcilerNames.join(', ')}`,
    ),
    used(
      'leader-elect',
      'string',
      'auto',
      'reconcilers.leaderElection',
      'whether servers on one store agree on who runs the reconcilers; auto: with etcd',
      { choices: leaderElections },
    ),
    unserved('node-monitor-grace-period', 'duration', '40s', 'silence after which a node is unknown'),
    unserved('pod-eviction-timeout', 'duration', '5m', 'how long a node may be not ready before its Pods are evicted'),
    unserved(
      'bootstrap-signer-key',
      'string',
      'token',
      'secret that signs cluster-info: the full token, or its part after the dot',
      { choices: signerKeys },
    ),
    accepted('apiserver-count', 'int', '1', 'servers in the cluster, for --endpoint-reconciler-type=master-count', {
      deprecated: true,
    }),
    accepted('aggregator-reject-forwarding-redirect', 'bool', 'true', 'do not pass redirects of aggregated servers on'),
    accepted(
      'enable-aggregator-routing',
      'bool',
      'false',
      'reach aggregated servers by endpoint instead of cluster IP',
    ),
    accepted('enable-logs-handler', 'bool', 'false', 'serve /logs', { deprecated: true }),
    accepted('kubelet-certificate-authority', 'string', '', 'authority of node agents'),
    accepted('kubelet-client-certificate', 'string', '', 'client certificate for node agents'),
    accepted('kubelet-client-key', 'string', '', 'key of that certificate'),
    accepted('kubelet-port', 'int', '10250', 'port of node agents', { deprecated: true }),
    accepted(
      'kubelet-preferred-address-types',
      'list',
      'Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP',
      'node addresses to try, in order',
    ),
    accepted('kubelet-read-only-port', 'int', '10255', 'unused', { deprecated: true }),
    accepted('kubelet-timeout', 'duration', '5s', 'how long a call to a node agent may take'),
    accepted('cloud-config', 'string', '', 'unused', { deprecated: true }),
    accepted('cloud-provider', 'string', '', 'unused', { deprecated: true }),
    accepted('cloud-provider-gce-l7lb-src-cidrs', 'list', '', 'unused', { deprecated: true }),
    accepted('cloud-provider-gce-lb-src-cidrs', 'list', '', 'unused', { deprecated: true }),
    accepted('max-connection-bytes-per-sec', 'int', '0', 'bytes a second of one long-running connection'),
    accepted('peer-advertise-ip', 'string', '', 'address for requests that other servers hand over'),
    accepted('peer-advertise-port', 'string', '', 'port for such requests'),
    accepted('peer-ca-file', 'string', '', 'authority of other servers'),
    accepted('proxy-client-cert-file', 'string', '', 'client certificate for aggregated servers and webhooks'),
    accepted('proxy-client-key-file', 'string', '', 'key of that certificate'),
  ],
};

export const ownFlags: FlagTopic = {
  title: 'Keelson',
  flags: [
    used(
      'config',
      'string',
      '',
      'configFile',
      'YAML file of flags without their dashes, and `limits`; flags and environment go before it',
    ),
    used('kubeconfig-out', 'string', '', 'kubeconfigOut', "file to write an administrator's kubeconfig to"),
    used('naming-profile', 'string', 'kubernetes', 'naming.profile', 'what built-in names look like', {
      choices: namingProfiles,
    }),
    used('api-domain', 'string', '', 'naming.apiDomain', "domain of API groups, instead of the profile's"),
    used(
      'label-domain',
      'string',
      '',
      'naming.labelDomain',
      'domain of labels and annotations; by default that of --api-domain where given',
    ),
  ],
};
