import { unserved, used, type Flag, type FlagTopic } from '../flag.js';

/** Flags of kube-controller-manager for reconcilers that run in this server. */

const signing = 'reconcilers.signing';

export const controllerFlags: FlagTopic = {
  title: 'Controllers',
  flags: [
    used(
      'root-ca-file',
      'string',
      '',
      'reconcilers.rootCaFile',
      'CA certificates that verify the serving certificate, published in every namespace; by default found by the server',
    ),
    ...signingFiles('', signing, "certificates of the built-in signers; by default the server's own CA"),
    ...signingFiles('kube-apiserver-client-', `${signing}.apiServerClient`, 'client certificates'),
    ...signingFiles('kubelet-client-', `${signing}.kubeletClient`, 'client certificates of kubelets'),
    ...signingFiles('kubelet-serving-', `${signing}.kubeletServing`, 'serving certificates of kubelets'),
    ...signingFiles('legacy-unknown-', `${signing}.legacyUnknown`, 'certificates of the signer legacy-unknown'),
    used(
      'cluster-signing-duration',
      'duration',
      '8760h0m0s',
      `${signing}.durationMsMax`,
      'maximum validity of a signed certificate',
    ),
    used(
      'node-monitor-period',
      'duration',
      '5s',
      'reconcilers.nodes.monitorPeriodMs',
      'time between two checks of the health of all nodes',
    ),
    used(
      'node-monitor-grace-period',
      'duration',
      '40s',
      'reconcilers.nodes.monitorGraceMs',
      'time without a sign of life after which a node is Ready=Unknown',
    ),
    used(
      'node-startup-grace-period',
      'duration',
      '1m0s',
      'reconcilers.nodes.startupGraceMs',
      'the same for a node that has never reported its status',
    ),
    used(
      'node-eviction-rate',
      'float',
      '0.1',
      'reconcilers.nodes.evictionsPerSecond',
      'nodes per second and zone that are tainted for the eviction of their Pods',
    ),
    used(
      'secondary-node-eviction-rate',
      'float',
      '0.01',
      'reconcilers.nodes.secondaryEvictionsPerSecond',
      'the same in a zone with many unhealthy nodes',
    ),
    used(
      'large-cluster-size-threshold',
      'int',
      '50',
      'reconcilers.nodes.largeClusterSize',
      'number of nodes up to which a zone with many unhealthy nodes evicts nothing',
    ),
    used(
      'unhealthy-zone-threshold',
      'float',
      '0.55',
      'reconcilers.nodes.unhealthyZoneShare',
      'share of nodes, at least three, from which on a zone has many unhealthy nodes',
    ),
    used(
      'terminated-pod-gc-threshold',
      'int',
      '12500',
      'reconcilers.terminatedPodsMax',
      'number of finished Pods beyond which the oldest are deleted; 0 for no limit',
    ),
    unserved(
      'pod-eviction-timeout',
      'duration',
      '5m',
      'time that a node may be not ready before its Pods are evicted; --default-not-ready-toleration-seconds and --default-unreachable-toleration-seconds set it',
    ),
  ],
};

function signingFiles(prefix: string, key: string, signed: string): Flag[] {
  return [
    used(`cluster-signing-${prefix}cert-file`, 'string', '', `${key}.certFile`, `CA certificate that signs ${signed}`),
    used(
      `cluster-signing-${prefix}key-file`,
      'string',
      '',
      `${key}.keyFile`,
      `key of --cluster-signing-${prefix}cert-file`,
    ),
  ];
}
