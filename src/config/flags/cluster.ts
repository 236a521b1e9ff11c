import { accepted, used, type FlagTopic } from '../flag.js';
import { reconcilerNames, reconcilersOffByDefault } from '../reconciler-names.js';

export const endpointReconcilers = ['lease', 'master-count', 'none'] as const;
export const namingProfiles = ['kubernetes', 'svc'] as const;
export const leaderElections = ['auto', 'true', 'false'] as const;
export const signerKeys = ['token', 'secret'] as const;
export type SignerKey = (typeof signerKeys)[number];

export const clusterFlags: FlagTopic = {
  title: 'Cluster',
  flags: [
    used(
      'service-cluster-ip-range',
      'list',
      '10.0.0.0/24',
      'network.serviceClusterIpRanges',
      'CIDR of cluster IPs of Services; two of different IP families for dual stack',
    ),
    used(
      'service-node-port-range',
      'portRange',
      '30000-32767',
      'network.serviceNodePorts',
      'range of node ports of Services, both ends included',
    ),
    used(
      'kubernetes-service-node-port',
      'int',
      '0',
      'network.serverServiceNodePort',
      'node port of the Service kubernetes; 0 makes it a ClusterIP Service',
    ),
    used(
      'endpoint-reconciler-type',
      'string',
      'lease',
      'network.endpointReconciler',
      'how addresses of servers are written into the Endpoints of the Service kubernetes; none does not write them',
      { choices: endpointReconcilers },
    ),
    used('event-ttl', 'duration', '1h0m0s', 'reconcilers.eventTtlMs', 'time after which Events are deleted'),
    used(
      'controllers',
      'list',
      '*',
      'reconcilers.controllers',
      `reconcilers to run: * for all, -* for none, name and -name to add and remove one; names are ${reconcilerNames.join(', ')}; * does not enable ${reconcilersOffByDefault.join(', ')}`,
    ),
    used(
      'leader-elect',
      'string',
      'auto',
      'reconcilers.leaderElection',
      'leader election of the reconcilers among servers that share a store; auto enables it with etcd',
      { choices: leaderElections },
    ),
    used(
      'bootstrap-signer-key',
      'string',
      'token',
      'reconcilers.bootstrapSignerKey',
      'key that signs cluster-info: the whole bootstrap token, or its secret (the part after the dot), which kubeadm expects',
      { choices: signerKeys },
    ),
    accepted(
      'apiserver-count',
      'int',
      '1',
      'number of servers in the cluster, for --endpoint-reconciler-type=master-count',
      {
        deprecated: true,
      },
    ),
    used(
      'aggregator-reject-forwarding-redirect',
      'bool',
      'true',
      'aggregation.rejectsRedirects',
      'answer 502 instead of forwarding a redirect of an aggregated server',
    ),
    used(
      'enable-aggregator-routing',
      'bool',
      'true',
      'aggregation.routesToEndpoints',
      'connect to endpoints of aggregated servers; false: to the cluster IP, which needs a proxy such as kube-proxy here',
    ),
    accepted('enable-logs-handler', 'bool', 'false', 'serve /logs', { deprecated: true }),
    used(
      'kubelet-certificate-authority',
      'string',
      '',
      'kubelets.certificateAuthority',
      'CA certificates that verify kubelets; without them, kubelets are not verified',
    ),
    used(
      'kubelet-client-certificate',
      'string',
      '',
      'kubelets.clientCertificate',
      'client certificate for kubelets; reloaded when the file changes',
    ),
    used('kubelet-client-key', 'string', '', 'kubelets.clientKey', 'key of --kubelet-client-certificate'),
    used('kubelet-port', 'int', '10250', 'kubelets.port', 'port of kubelets whose Nodes name none', {
      deprecated: true,
    }),
    used(
      'kubelet-preferred-address-types',
      'list',
      'Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP',
      'kubelets.preferredAddressTypes',
      'types of node addresses for connections to kubelets, in order of preference',
    ),
    accepted('kubelet-read-only-port', 'int', '10255', 'unused', { deprecated: true }),
    accepted('kubelet-timeout', 'duration', '5s', 'unused, also by kube-apiserver'),
    accepted('cloud-config', 'string', '', 'unused', { deprecated: true }),
    accepted('cloud-provider', 'string', '', 'unused', { deprecated: true }),
    accepted('cloud-provider-gce-l7lb-src-cidrs', 'list', '', 'unused', { deprecated: true }),
    accepted('cloud-provider-gce-lb-src-cidrs', 'list', '', 'unused', { deprecated: true }),
    accepted(
      'max-connection-bytes-per-sec',
      'int',
      '0',
      'bandwidth of one long-running connection, in bytes per second',
    ),
    accepted('peer-advertise-ip', 'string', '', 'address at which other servers forward requests to this one'),
    accepted('peer-advertise-port', 'string', '', 'port at which other servers forward requests to this one'),
    accepted('peer-ca-file', 'string', '', 'CA certificates that verify other servers'),
    used(
      'proxy-client-cert-file',
      'string',
      '',
      'aggregation.proxyClientCertFile',
      'client certificate for aggregated servers; by default the server issues one with a CA of its own',
    ),
    used('proxy-client-key-file', 'string', '', 'aggregation.proxyClientKeyFile', 'key of --proxy-client-cert-file'),
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
      'YAML file with flags (without dashes) and `limits`; command line and environment take precedence over it',
    ),
    used('kubeconfig-out', 'string', '', 'kubeconfigOut', "file to which an administrator's kubeconfig is written"),
    used(
      'naming-profile',
      'string',
      'kubernetes',
      'naming.profile',
      'format of built-in API groups, labels and namespaces',
      {
        choices: namingProfiles,
      },
    ),
    used(
      'api-domain',
      'string',
      '',
      'naming.apiDomain',
      'domain of API groups, instead of the one of --naming-profile',
    ),
    used(
      'label-domain',
      'string',
      '',
      'naming.labelDomain',
      'domain of labels and annotations; by default --api-domain if set',
    ),
    used(
      'logical-clusters',
      'bool',
      'false',
      'logicalClusters.enabled',
      'serve LogicalClusters, each an API server of its own under /clusters/NAME',
    ),
    used(
      'logical-clusters-awake-max',
      'int',
      '100',
      'logicalClusters.awakeMax',
      'number of logical clusters in memory; others are read from the store when a request comes',
    ),
    used(
      'logical-clusters-idle-timeout',
      'duration',
      '5m0s',
      'logicalClusters.idleTimeoutMs',
      'time without requests and watches after which a logical cluster leaves memory',
    ),
    used(
      'allow-faults',
      'bool',
      'false',
      'faults.allowed',
      'inject faults into requests and calls of webhooks, for tests of clients: by --fault-plan-file, /debug/faults and the header Keelson-Fault',
    ),
    used(
      'fault-plan-file',
      'string',
      '',
      'faults.planFile',
      'YAML file with the faults to inject; needs --allow-faults',
    ),
  ],
};
