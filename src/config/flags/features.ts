import { accepted, unserved, used, type FlagTopic } from '../flag.js';

export const featureFlags: FlagTopic = {
  title: 'Features',
  flags: [
    unserved(
      'enable-priority-and-fairness',
      'bool',
      'true',
      'queue requests by priority, fairly, instead of plain limits',
    ),
    accepted('contention-profiling', 'bool', 'false', 'profile lock contention'),
    accepted(
      'coordinated-leadership-lease-duration',
      'duration',
      '15s',
      'length of leases in coordinated leader election',
    ),
    accepted('coordinated-leadership-renew-deadline', 'duration', '10s', 'time to renew such a lease'),
    accepted('coordinated-leadership-retry-period', 'duration', '2s', 'pause between tries to renew it'),
    accepted('debug-socket-path', 'string', '', 'unix socket for profiling without authentication'),
    used('profiling', 'bool', 'true', 'profiling', 'let those who may see /debug/ look into the running server'),
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
      'switch APIs: v1, <group>/<version>[/<resource>], api/all|ga|beta|alpha, each [=true|false]',
    ),
  ],
};

export const egressFlags: FlagTopic = {
  title: 'Egress selector',
  flags: [
    accepted('egress-selector-config-file', 'string', '', 'file that says through which proxies the server calls out'),
  ],
};

export const admissionFlags: FlagTopic = {
  title: 'Admission',
  flags: [
    used(
      'admission-control-config-file',
      'string',
      '',
      'admission.controlConfigFile',
      'file with the configuration of admission plugins',
    ),
    used(
      'enable-admission-plugins',
      'list',
      '',
      'admission.enabledPlugins',
      'admission plugins to run besides the default ones; their order does not matter',
    ),
    used('disable-admission-plugins', 'list', '', 'admission.disabledPlugins', 'default admission plugins not to run'),
    accepted('admission-control', 'list', '', 'use --enable-admission-plugins and --disable-admission-plugins', {
      deprecated: true,
    }),
    used('allow-privileged', 'bool', 'false', 'admission.allowPrivileged', 'allow Pods with privileged containers'),
    used(
      'default-not-ready-toleration-seconds',
      'int',
      '300',
      'admission.notReadyTolerationSeconds',
      'how long Pods tolerate a node that is not ready',
    ),
    used(
      'default-unreachable-toleration-seconds',
      'int',
      '300',
      'admission.unreachableTolerationSeconds',
      'how long Pods tolerate a node that is unreachable',
    ),
  ],
};
