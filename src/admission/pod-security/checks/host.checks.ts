import { asFields, asItems, asNumber, asText, type Fields } from '../../../machinery/fields.js';
import { containersOf } from '../../pods/containers.js';
import type { Check, PodView, Violation } from '../check.js';
import { namesOf, settersOf } from '../security-contexts.js';
import { containers, plural, quoted, sorted } from '../text.js';

/** What a Pod shares with its node. */
export const hostNamespaces: Check = {
  id: 'hostNamespaces',
  level: 'baseline',
  rules: [
    {
      since: 0,
      rule({ spec }) {
        const shared = ['hostNetwork', 'hostPID', 'hostIPC'].filter((field) => spec[field] === true);
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
      rule({ spec }) {
        const names = asItems(spec['volumes'])
          .filter(({ hostPath }) => hostPath !== undefined)
          .map(({ name }) => asText(name));
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
  const using = containersOf(spec).flatMap((container) => {
    const ports = asItems(container['ports'])
      .map(({ hostPort }) => asNumber(hostPort))
      .filter((port) => port !== 0);
    return ports.length === 0 ? [] : [{ name: asText(container['name']), ports }];
  });
  if (using.length === 0) return undefined;
  const ports = sorted(using.flatMap((one) => one.ports.map(String)));
  const names = using.map(({ name }) => name);
  const verb = plural('uses', 'use', names.length);
  return {
    reason: 'hostPort',
    detail: `${containers(names)} ${verb} ${plural('hostPort', 'hostPorts', ports.length)} ${ports.join(', ')}`,
  };
}

/** A probe of another host is a request that the node's agent makes for whoever wrote the Pod. */
export const hostProbesAndHostLifecycle: Check = {
  id: 'hostProbesAndHostLifecycle',
  level: 'baseline',
  rules: [{ since: 34, rule: refuseProbedHosts }],
};

function refuseProbedHosts({ spec }: PodView): Violation | undefined {
  const using = containersOf(spec).map((container) => {
    const lifecycle = asFields(container['lifecycle']);
    const handlers = [
      ...['livenessProbe', 'readinessProbe', 'startupProbe'].map((field) => asFields(container[field])),
      ...['postStart', 'preStop'].map((field) => asFields(lifecycle[field])),
    ];
    return { name: asText(container['name']), hosts: handlers.flatMap(hostsOf) };
  });
  const hosts = sorted(using.flatMap((one) => one.hosts));
  if (hosts.length === 0) return undefined;
  const names = sorted(using.filter((one) => one.hosts.length > 0).map(({ name }) => name));
  const what = plural('probe or lifecycle host', 'probe or lifecycle hosts', hosts.length);
  return {
    reason: 'probe or lifecycle host',
    detail: `${containers(names)} ${plural('uses', 'use', names.length)} ${what} ${quoted(hosts)}`,
  };
}

function hostsOf(handler: Fields): string[] {
  return ['httpGet', 'tcpSocket']
    .map((action) => asText(asFields(handler[action])['host']))
    .filter((host) => host !== '');
}

export const privileged: Check = {
  id: 'privileged',
  level: 'baseline',
  rules: [
    {
      since: 0,
      rule(pod) {
        const names = namesOf(pod, (context) => context['privileged'] === true);
        if (names.length === 0) return undefined;
        return { reason: 'privileged', detail: `${containers(names)} must not set securityContext.privileged=true` };
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
        const setters = settersOf(pod, (context) => asFields(context['windowsOptions'])['hostProcess'] === true);
        if (setters === undefined) return undefined;
        return {
          reason: 'hostProcess',
          detail: `${setters} must not set securityContext.windowsOptions.hostProcess=true`,
        };
      },
    },
  ],
};
