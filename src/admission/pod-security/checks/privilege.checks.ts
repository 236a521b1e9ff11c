import type { SecurityContext } from '../../../catalog/types/core.v1.js';
import type { Check, PodView, Violation } from '../check.js';
import {
  containerContexts,
  hasUserNamespace,
  isWindows,
  namesOf,
  podContext,
  settersOf,
} from '../security-contexts.js';
import { distinct, quoted, quotedContainers } from '../text.js';

/** Requires that processes cannot gain more privileges than their parent. */
export const allowPrivilegeEscalation: Check = {
  id: 'allowPrivilegeEscalation',
  level: 'restricted',
  rules: [
    { since: 8, rule: refuseEscalation },
    { since: 25, rule: (pod) => (isWindows(pod) ? undefined : refuseEscalation(pod)) },
  ],
};

function refuseEscalation(pod: PodView): Violation | undefined {
  const names = namesOf(pod, (context) => context.allowPrivilegeEscalation !== false);
  if (names.length === 0) return undefined;
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${quotedContainers(names)} must set securityContext.allowPrivilegeEscalation=false`,
  };
}

const defaultCapabilities = [
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
];

export const capabilitiesBaseline: Check = {
  id: 'capabilities_baseline',
  level: 'baseline',
  rules: [
    {
      since: 0,
      rule(pod) {
        const detail = addedCapabilities(pod, defaultCapabilities);
        return detail === undefined ? undefined : { reason: 'non-default capabilities', detail };
      },
    },
  ],
};

export const capabilitiesRestricted: Check = {
  id: 'capabilities_restricted',
  level: 'restricted',
  rules: [
    { since: 22, rule: requireDropAll, replaces: ['capabilities_baseline'] },
    {
      since: 25,
      rule: (pod) => (isWindows(pod) ? undefined : requireDropAll(pod)),
      replaces: ['capabilities_baseline'],
    },
  ],
};

function requireDropAll(pod: PodView): Violation | undefined {
  const keeping = namesOf(pod, (context) => !context.capabilities?.drop?.includes('ALL'));
  const added = addedCapabilities(pod, ['NET_BIND_SERVICE']);
  const details = [
    ...(keeping.length > 0 ? [`${quotedContainers(keeping)} must set securityContext.capabilities.drop=["ALL"]`] : []),
    ...(added === undefined ? [] : [added]),
  ];
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') };
}

function addedCapabilities(pod: PodView, allowed: readonly string[]): string | undefined {
  const refusedOf = (context: SecurityContext) =>
    (context.capabilities?.add ?? []).filter((name) => !allowed.includes(name));
  const names = namesOf(pod, (context) => refusedOf(context).length > 0);
  if (names.length === 0) return undefined;
  const refused = distinct(containerContexts(pod).flatMap(({ context }) => refusedOf(context)));
  return `${quotedContainers(names)} must not include ${quoted(refused)} in securityContext.capabilities.add`;
}

const refuseProcMount = (pod: PodView): Violation | undefined => {
  const isRefused = (context: SecurityContext) => context.procMount !== undefined && context.procMount !== 'Default';
  const names = namesOf(pod, isRefused);
  if (names.length === 0) return undefined;
  const values = distinct(
    containerContexts(pod)
      .filter(({ context }) => isRefused(context))
      .map(({ context }) => context.procMount ?? ''),
  );
  return {
    reason: 'procMount',
    detail: `${quotedContainers(names)} must not set securityContext.procMount to ${quoted(values)}`,
  };
};

export const procMountBaseline: Check = {
  id: 'procMount',
  level: 'baseline',
  rules: [
    { since: 0, rule: refuseProcMount },
    { since: 35, rule: (pod) => (hasUserNamespace(pod) ? undefined : refuseProcMount(pod)) },
  ],
};

export const procMountRestricted: Check = {
  id: 'procMount_restricted',
  level: 'restricted',
  rules: [{ since: 35, rule: refuseProcMount, replaces: ['procMount'] }],
};

export const runAsNonRoot: Check = {
  id: 'runAsNonRoot',
  level: 'restricted',
  rules: [
    { since: 0, rule: requireNonRoot },
    { since: 35, rule: (pod) => (hasUserNamespace(pod) ? undefined : requireNonRoot(pod)) },
  ],
};

function requireNonRoot(pod: PodView): Violation | undefined {
  const reason = 'runAsNonRoot != true';
  const setters = settersOf(pod, (context) => context.runAsNonRoot === false);
  if (setters !== undefined) {
    return { reason, detail: `${setters} must not set securityContext.runAsNonRoot=false` };
  }
  if (podContext(pod).runAsNonRoot === true) return undefined;
  const without = namesOf(pod, (context) => context.runAsNonRoot === undefined);
  if (without.length === 0) return undefined;
  return { reason, detail: `pod or ${quotedContainers(without)} must set securityContext.runAsNonRoot=true` };
}

export const runAsUser: Check = {
  id: 'runAsUser',
  level: 'restricted',
  rules: [
    { since: 23, rule: refuseRoot },
    { since: 35, rule: (pod) => (hasUserNamespace(pod) ? undefined : refuseRoot(pod)) },
  ],
};

function refuseRoot(pod: PodView): Violation | undefined {
  const setters = settersOf(pod, (context) => context.runAsUser === 0);
  return setters === undefined ? undefined : { reason: 'runAsUser=0', detail: `${setters} must not set runAsUser=0` };
}

const safeSysctls = [
  { since: 0, names: ['kernel.shm_rmid_forced', 'net.ipv4.ip_local_port_range', 'net.ipv4.tcp_syncookies'] },
  { since: 0, names: ['net.ipv4.ping_group_range', 'net.ipv4.ip_unprivileged_port_start'] },
  { since: 27, names: ['net.ipv4.ip_local_reserved_ports'] },
  { since: 29, names: ['net.ipv4.tcp_keepalive_time', 'net.ipv4.tcp_fin_timeout'] },
  { since: 29, names: ['net.ipv4.tcp_keepalive_intvl', 'net.ipv4.tcp_keepalive_probes'] },
  { since: 32, names: ['net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'] },
];

export const sysctls: Check = {
  id: 'sysctls',
  level: 'baseline',
  rules: [0, 27, 29, 32].map((since) => {
    const safe = safeSysctls.filter((added) => added.since <= since).flatMap(({ names }) => names);
    return {
      since,
      rule(pod) {
        const names = (podContext(pod).sysctls ?? []).map(({ name = '' }) => name);
        const refused = names.filter((name) => !safe.includes(name));
        return refused.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: refused.join(', ') };
      },
    };
  }),
};
