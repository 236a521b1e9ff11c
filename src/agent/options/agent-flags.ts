import { used, type Flag, type FlagTopic } from '../../config/flag.js';
import { evictionHardDefault } from '../node/eviction-thresholds.js';
import { namingProfiles } from '../../config/flags/cluster.js';

/** A flag that a field of a KubeletConfiguration sets too. */
interface AgentFlag extends Flag {
  /** Path of the field, such as `authentication.x509.clientCAFile`. */
  readonly field?: string;
}

const withField = (field: string, flag: Flag): AgentFlag => ({ ...flag, field });

/** Flags of `keelson agent`, named as those of the kubelet. `key` is the property of AgentOptions. */
export const agentFlagTopics: readonly (FlagTopic & { readonly flags: readonly AgentFlag[] })[] = [
  {
    title: 'Agent',
    flags: [
      used('config', 'string', '', 'configFile', 'KubeletConfiguration in YAML or JSON; flags take precedence'),
      used('hostname-override', 'string', '', 'nodeName', 'name of the Node; by default the name of the machine'),
      used('node-name', 'string', '', 'nodeName', 'alias of --hostname-override', { aliasOf: 'hostname-override' }),
      used(
        'root-dir',
        'string',
        '/var/lib/kubelet',
        'rootDirectory',
        'directory of the agent, with checkpoints/ in it',
      ),
      used(
        'kubeconfig',
        'string',
        '',
        'kubeconfig',
        'kubeconfig for the API server; without it the agent is on its own',
      ),
      used(
        'bootstrap-kubeconfig',
        'string',
        '',
        'bootstrapKubeconfig',
        'kubeconfig that requests the client certificate, if --kubeconfig does not exist yet',
      ),
      withField('featureGates', used('feature-gates', 'gates', '', 'featureGates', 'enable or disable features')),
    ],
  },
  {
    title: 'Serving',
    flags: [
      withField('enableServer', used('enable-server', 'bool', 'true', 'serving.isEnabled', 'serve HTTPS')),
      withField('address', used('address', 'string', '0.0.0.0', 'serving.address', 'IP address to listen on')),
      withField('port', used('port', 'int', '10250', 'serving.port', 'port of the HTTPS server; 0 is any free port')),
      withField(
        'healthzBindAddress',
        used('healthz-bind-address', 'string', '127.0.0.1', 'serving.healthzAddress', 'IP address of --healthz-port'),
      ),
      withField(
        'healthzPort',
        used(
          'healthz-port',
          'int',
          '10248',
          'serving.healthzPort',
          'port of an HTTP server with /healthz only; 0 is none',
        ),
      ),
      used(
        'cert-dir',
        'string',
        '/var/lib/kubelet/pki',
        'certDirectory',
        'directory of certificates that are requested or generated',
      ),
      withField(
        'tlsCertFile',
        used(
          'tls-cert-file',
          'string',
          '',
          'serving.tlsCertFile',
          'serving certificate, with its intermediates, in PEM',
        ),
      ),
      withField(
        'tlsPrivateKeyFile',
        used('tls-private-key-file', 'string', '', 'serving.tlsPrivateKeyFile', 'key of --tls-cert-file in PEM'),
      ),
      withField(
        'tlsMinVersion',
        used('tls-min-version', 'string', 'VersionTLS12', 'serving.tlsMinVersion', 'lowest version of TLS', {
          choices: ['VersionTLS12', 'VersionTLS13'],
        }),
      ),
      withField(
        'tlsCipherSuites',
        used('tls-cipher-suites', 'list', '', 'serving.tlsCipherSuites', 'cipher suites by their Go names'),
      ),
      withField(
        'streamingConnectionIdleTimeout',
        used(
          'streaming-connection-idle-timeout',
          'duration',
          '4h',
          'serving.streamIdleTimeoutMs',
          'time after which an idle exec, attach or port-forward is closed',
        ),
      ),
      withField(
        'enableDebuggingHandlers',
        used(
          'enable-debugging-handlers',
          'bool',
          'true',
          'serving.hasDebuggingHandlers',
          'serve /containerLogs, /exec, /attach, /portForward, /run, /logs/ and /runningpods/',
        ),
      ),
      withField(
        'enableSystemLogHandler',
        used(
          'enable-system-log-handler',
          'bool',
          'true',
          'serving.hasSystemLogs',
          'serve files of --log-dir at /logs/',
        ),
      ),
      used('log-dir', 'string', '/var/log', 'serving.logDirectory', 'directory that /logs/ serves'),
    ],
  },
  {
    title: 'Authentication and authorization',
    flags: [
      withField(
        'authentication.anonymous.enabled',
        used(
          'anonymous-auth',
          'bool',
          'true',
          'authentication.anonymous',
          'requests without credentials are those of system:anonymous; with false they get 401',
        ),
      ),
      withField(
        'authentication.x509.clientCAFile',
        used(
          'client-ca-file',
          'string',
          '',
          'authentication.clientCaFile',
          'CAs that sign client certificates, in PEM',
        ),
      ),
      withField(
        'authentication.webhook.enabled',
        used(
          'authentication-token-webhook',
          'bool',
          'false',
          'authentication.webhook',
          'authenticate bearer tokens by TokenReviews; requires --kubeconfig',
        ),
      ),
      withField(
        'authentication.webhook.cacheTTL',
        used(
          'authentication-token-webhook-cache-ttl',
          'duration',
          '2m',
          'authentication.webhookCacheTtlMs',
          'time for which results of TokenReviews are kept',
        ),
      ),
      withField(
        'authorization.mode',
        used(
          'authorization-mode',
          'string',
          'AlwaysAllow',
          'authorization.mode',
          'Webhook asks the API server by SubjectAccessReviews; requires --kubeconfig',
          { choices: ['AlwaysAllow', 'Webhook'] },
        ),
      ),
      withField(
        'authorization.webhook.cacheAuthorizedTTL',
        used(
          'authorization-webhook-cache-authorized-ttl',
          'duration',
          '5m',
          'authorization.allowedTtlMs',
          'time for which a permission is kept',
        ),
      ),
      withField(
        'authorization.webhook.cacheUnauthorizedTTL',
        used(
          'authorization-webhook-cache-unauthorized-ttl',
          'duration',
          '30s',
          'authorization.otherTtlMs',
          'time for which a refusal is kept',
        ),
      ),
      withField(
        'rotateCertificates',
        used(
          'rotate-certificates',
          'bool',
          'true',
          'certificates.rotatesClient',
          'renew the client certificate of a bootstrap before it expires',
        ),
      ),
      withField(
        'serverTLSBootstrap',
        used(
          'rotate-server-certificates',
          'bool',
          'false',
          'certificates.rotatesServing',
          'request the serving certificate from the API server, and renew it before it expires',
        ),
      ),
    ],
  },
  {
    title: 'Container runtime',
    flags: [
      withField(
        'containerRuntimeEndpoint',
        used(
          'container-runtime-endpoint',
          'string',
          'unix:///run/containerd/containerd.sock',
          'runtime.endpoint',
          'Unix socket of a CRI v1 runtime; "none": show no Pods of a runtime',
        ),
      ),
      withField(
        'imageServiceEndpoint',
        used(
          'image-service-endpoint',
          'string',
          '',
          'runtime.imageEndpoint',
          'Unix socket of the image service; by default --container-runtime-endpoint',
        ),
      ),
      withField(
        'runtimeRequestTimeout',
        used(
          'runtime-request-timeout',
          'duration',
          '2m',
          'runtime.requestTimeoutMs',
          'limit on a request to the runtime, except for checkpoints with a timeout of their own',
        ),
      ),
    ],
  },
  {
    title: 'Node',
    flags: [
      withField(
        'registerNode',
        used('register-node', 'bool', 'true', 'node.isRegistered', 'create the Node and report its status and Lease'),
      ),
      used('node-ip', 'list', '', 'node.ips', 'IP address of the Node, or one of each family; "::": prefer IPv6'),
      used('node-labels', 'map', '', 'node.labels', 'labels of the Node when it is registered'),
      withField(
        'registerWithTaints',
        used('register-with-taints', 'list', '', 'node.taints', 'taints of the registered Node, key=value:Effect'),
      ),
      used(
        'register-schedulable',
        'bool',
        'true',
        'node.isSchedulable',
        'with false the Node is registered as cordoned',
      ),
      withField('providerID', used('provider-id', 'string', '', 'node.providerId', 'spec.providerID of the Node')),
      withField(
        'maxPods',
        used('max-pods', 'int', '110', 'node.maxPods', 'capacity of Pods in the status of the Node'),
      ),
      withField(
        'nodeStatusMaxImages',
        used(
          'node-status-max-images',
          'int',
          '50',
          'node.imagesMax',
          'limit on images in the status of the Node; -1: none',
        ),
      ),
      withField(
        'nodeStatusUpdateFrequency',
        used(
          'node-status-update-frequency',
          'duration',
          '10s',
          'node.statusUpdateMs',
          'interval of looking at the machine',
        ),
      ),
      withField(
        'nodeStatusReportFrequency',
        used(
          'node-status-report-frequency',
          'duration',
          '5m',
          'node.statusReportMs',
          'interval of writing a status that has not changed',
        ),
      ),
      withField(
        'nodeLeaseDurationSeconds',
        used('node-lease-duration-seconds', 'int', '40', 'node.leaseSeconds', 'duration of the Lease of the Node'),
      ),
      withField(
        'systemReserved',
        used(
          'system-reserved',
          'map',
          '',
          'node.systemReserved',
          'resources that Pods do not get, cpu=200m,memory=500Mi',
        ),
      ),
      withField(
        'kubeReserved',
        used('kube-reserved', 'map', '', 'node.kubeReserved', 'resources that Pods do not get, cpu=200m,memory=500Mi'),
      ),
      withField(
        'evictionHard',
        used(
          'eviction-hard',
          'string',
          evictionHardDefault,
          'node.evictionHard',
          'amounts below which the Node has MemoryPressure, DiskPressure or PIDPressure, and which are not allocatable',
        ),
      ),
      withField(
        'evictionPressureTransitionPeriod',
        used(
          'eviction-pressure-transition-period',
          'duration',
          '5m',
          'node.pressureTransitionMs',
          'time for which a pressure condition remains after the pressure has ended',
        ),
      ),
    ],
  },
  {
    title: 'Logs and names',
    flags: [
      used('log-level', 'string', 'info', 'log.level', 'minimum severity of logged lines', {
        choices: ['debug', 'info', 'warn', 'error'],
      }),
      used('v', 'int', '0', 'log.verbosity', 'log verbosity; 4 and above set --log-level=debug'),
      used(
        'naming-profile',
        'string',
        'kubernetes',
        'naming.profile',
        'names of built-in groups, labels and namespaces',
        {
          choices: namingProfiles,
        },
      ),
    ],
  },
];

export const agentFlags: ReadonlyMap<string, AgentFlag> = new Map(
  agentFlagTopics.flatMap(({ flags }) => flags.map((flag) => [flag.name, flag] as const)),
);
