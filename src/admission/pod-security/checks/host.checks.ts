import type { Container, LifecycleHandler, ProbeHandler } from '../../../catalog/types/core.v1.js';
import { containersOf } from '../../../pods/containers.js';
import type { Check, PodView, Violation } from '../check.js';
import { namesOf, settersOf } from '../security-contexts.js';
import { distinct, plural, quoted, quotedContainers } from '../text.js';

/** Refuses Pods that share namespaces with their node. */
export const hostNamespaces: Check = {
  id: 'hostNamespaces',
  level: 'baseline',
  rules: [
    {
      since: 0,
      rule({ spec }) {
        const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field] === true);
        if (shared.length === 0) return undefined;
        return { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') };
      },
    },
  ],
};

export const hostPathVolumes: Check = {
  id: 'hostPathVolumes',
  level: 'baseline',
  rules: [
    {
      since: 0,
      rule({ spec: { volumes = [] } }) {
        const names = volumes.filter(({ hostPath }) => hostPath !== undefined).map(({ name = '' }) => name);
        if (names.length === 0) return undefined;
        return {
          reason: 'hostPath volumes',
          detail: `${plural('volume', 'volumes', names.length)} ${quoted(names)}`,
        };
      },
    },
  ],
};

export const hostPorts: Check = {
  id: 'hostPorts',
  level: 'baseline',
  rules: [{ since: 0, rule: refuseHostPorts }],
};

function refuseHostPorts({ spec }: PodView): Violation | undefined {
  const using = containersOf(spec).flatMap(({ name = '', ports = [] }) => {
    const hostPortsOf = ports.map(({ hostPort = 0 }) => hostPort).filter((port) => port !== 0);
    return hostPortsOf.length === 0 ? [] : [{ name, ports: hostPortsOf }];
  });
  if (using.length === 0) return undefined;
  const ports = distinct(using.flatMap((container) => container.ports.map(String)));
  const names = using.map(({ name }) => name);
  const verb = plural('uses', 'use', names.length);
  return {
    reason: 'hostPort',
    detail: `${quotedContainers(names)} ${verb} ${plural('hostPort', 'hostPorts', ports.length)} ${ports.join(', ')}`,
  };
}

/** Refuses hosts in probes and lifecycle hooks: with them the kubelet sends requests to hosts that the user names. */
export const hostProbesAndHostLifecycle: Check = {
  id: 'hostProbesAndHostLifecycle',
  level: 'baseline',
  rules: [{ since: 34, rule: refuseProbedHosts }],
};

function refuseProbedHosts({ spec }: PodView): Violation | undefined {
  const using = containersOf(spec).map((container) => ({
    name: container.name ?? '',
    hosts: handlersOf(container).flatMap(hostsOf),
  }));
  const hosts = distinct(using.flatMap((container) => container.hosts));
  if (hosts.length === 0) return undefined;
  const names = distinct(using.filter((container) => container.hosts.length > 0).map(({ name }) => name));
  const what = plural('probe or lifecycle host', 'probe or lifecycle hosts', hosts.length);
  return {
    reason: 'probe or lifecycle host',
    detail: `${quotedContainers(names)} ${plural('uses', 'use', names.length)} ${what} ${quoted(hosts)}`,
  };
}

function handlersOf({ livenessProbe, readinessProbe, startupProbe, lifecycle }: Container) {
  return [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop];
}

function hostsOf(handler: ProbeHandler | LifecycleHandler | undefined): string[] {
  return [handler?.httpGet?.host, handler?.tcpSocket?.host].flatMap((host) => host || []);
}

export const privileged: Check = {
  id: 'privileged',
  level: 'baseline',
  rules: [
    {
      since: 0,
      rule(pod) {
        const names = namesOf(pod, (context) => context.privileged === true);
        if (names.length === 0) return undefined;
        return {
          reason: 'privileged',
          detail: `${quotedContainers(names)} must not set securityContext.privileged=true`,
        };
      },
    },
  ],
};

export const windowsHostProcess: Check = {
  id: 'windowsHostProcess',
  level: 'baseline',
  rules: [
    {
      since: 0,
      rule(pod) {
        const setters = settersOf(pod, (context) => context.windowsOptions?.hostProcess === true);
        if (setters === undefined) return undefined;
        return {
          reason: 'hostProcess',
          detail: `${setters} must not set securityContext.windowsOptions.hostProcess=true`,
        };
      },
    },
  ],
};
