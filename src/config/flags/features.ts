import { accepted, used, type FlagTopic } from '../flag.js';

export const featureFlags: FlagTopic = {
  title: 'Features',
  flags: [
    used(
      'enable-priority-and-fairness',
      'bool',
      'true',
      'flow.priorityAndFairness',
      'queue requests by FlowSchemas and priority levels; false limits requests in flight for all together',
    ),
    accepted('contention-profiling', 'bool', 'false', 'profile lock contention'),
    accepted(
      'coordinated-leadership-lease-duration',
      'duration',
      '15s',
      'duration of Leases of coordinated leader election',
    ),
    accepted(
      'coordinated-leadership-renew-deadline',
      'duration',
      '10s',
      'time limit for renewing a Lease of coordinated leader election',
    ),
    accepted(
      'coordinated-leadership-retry-period',
      'duration',
      '2s',
      'interval of attempts to renew a Lease of coordinated leader election',
    ),
    accepted('debug-socket-path', 'string', '', 'unix socket for profiling without authentication'),
    used('profiling', 'bool', 'true', 'profiling', 'serve /debug/pprof/ to users with access to the path'),
  ],
};

export const enablementFlags: FlagTopic = {
  title: 'API enablement',
  flags: [
    used(
      'runtime-config',
      'switches',
      '',
      'runtimeConfig',
      'APIs to enable or disable: v1, <group>/<version>[/<resource>], api/all|ga|beta|alpha, each [=true|false]',
    ),
  ],
};

export const egressFlags: FlagTopic = {
  title: 'Egress selector',
  flags: [accepted('egress-selector-config-file', 'string', '', 'file with the proxies for outgoing connections')],
};

export const admissionFlags: FlagTopic = {
  title: 'Admission',
  flags: [
    used(
      'admission-control-config-file',
      'string',
      '',
      'admission.controlConfigFile',
      'AdmissionConfiguration file with settings of admission plug-ins',
    ),
    used(
      'enable-admission-plugins',
      'list',
      '',
      'admission.enabledPlugins',
      'admission plug-ins to run besides the default ones; the order does not matter',
    ),
    used('disable-admission-plugins', 'list', '', 'admission.disabledPlugins', 'default admission plug-ins not to run'),
    accepted(
      'admission-control',
      'list',
      '',
      'replaced by --enable-admission-plugins and --disable-admission-plugins',
      {
        deprecated: true,
      },
    ),
    used('allow-privileged', 'bool', 'false', 'admission.allowPrivileged', 'allow Pods with privileged containers'),
    used(
      'default-not-ready-toleration-seconds',
      'int',
      '300',
      'admission.notReadyTolerationSeconds',
      'number of seconds that Pods tolerate a node that is not ready, by default',
    ),
    used(
      'default-unreachable-toleration-seconds',
      'int',
      '300',
      'admission.unreachableTolerationSeconds',
      'number of seconds that Pods tolerate an unreachable node, by default',
    ),
  ],
};
