import type { Pod, PodExecOptions, PodPortForwardOptions, PodProxyOptions } from '../../catalog/types/core.v1.js';
import { isGlobalUnicast } from '../../forwarding/allowed-addresses.js';
import { addressNotAllowed } from '../../forwarding/forward-error.js';
import type { ForwardPlan } from '../../forwarding/forward-plan.js';
import type { ForwardTarget } from '../../forwarding/forward-target.js';
import { cleanPath, escapePath } from '../../forwarding/proxied-path.js';
import { ApiError } from '../../machinery/api-error.js';
import { goQuote } from '../../machinery/field-error.js';
import type { SubresourceRequest } from '../../registry/apis/api-group.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import { coreVersion } from './core.version.js';
import type { Kubelets } from './kubelets.js';
import { logQuery, podLogOptions } from './pod/log-options.js';
import type { ServiceLocations } from './service-locations.js';

interface ConnectionDependencies {
  readonly registry: ResourceRegistry;
  readonly kubelets: Kubelets;
  readonly services: ServiceLocations;
  /** The feature gate PodLogsQuerySplitStreams. */
  readonly logSelectsStream: boolean;
}

/**
 * Finds the servers of subresources that connect: the kubelet of a Pod's node for logs and streams, and a Pod, an endpoint
 * of a Service or a node for the proxies. Only addresses in the objects themselves are used.
 */
export class Connections {
  constructor(private readonly dependencies: ConnectionDependencies) {}

  /** Undefined for a Pod that is not scheduled, whose log is empty. */
  async log(request: SubresourceRequest): Promise<ForwardPlan | undefined> {
    const { name, query, context } = request;
    const options = podLogOptions((parameter) => query.first(parameter), name, this.dependencies.logSelectsStream);
    const pod = await this.pod(request, name);
    const container = containerOf(pod, options.container);
    const nodeName = pod.spec?.nodeName;
    if (!nodeName) return undefined;
    const target = await this.dependencies.kubelets.find(nodeName, context, options);
    const parameters = logQuery(options);
    const path = `${kubeletPath('containerLogs', pod, container)}${parameters === '' ? '' : `?${parameters}`}`;
    return { type: 'log', target, path, podName: name };
  }

  /** exec and attach; both have the same options, except the command. */
  async streams(request: SubresourceRequest, subresource: 'exec' | 'attach'): Promise<ForwardPlan> {
    const options = (request.body ?? {}) as unknown as PodExecOptions;
    const pod = await this.pod(request, request.name);
    const container = containerOf(pod, options.container ?? '');
    const query = new URLSearchParams();
    for (const word of (subresource === 'exec' && options.command) || []) query.append('command', word);
    if (options.stderr) query.append('error', '1');
    if (options.stdin) query.append('input', '1');
    if (options.stdout) query.append('output', '1');
    if (options.tty) query.append('tty', '1');
    const target = await this.kubeletOf(pod, request);
    return {
      type: 'stream',
      target,
      path: `${kubeletPath(subresource, pod, container)}?${String(query)}`,
      subresource,
    };
  }

  async portForward(request: SubresourceRequest): Promise<ForwardPlan> {
    const { ports = [] } = (request.body ?? {}) as unknown as PodPortForwardOptions;
    const pod = await this.pod(request, request.name);
    const query = new URLSearchParams();
    if (ports.length > 0) query.append('port', ports.join(','));
    const target = await this.kubeletOf(pod, request);
    return {
      type: 'stream',
      target,
      path: `${kubeletPath('portForward', pod)}?${String(query)}`,
      subresource: 'portforward',
    };
  }

  async toPod(request: SubresourceRequest): Promise<ForwardPlan> {
    const { scheme, name, port } = splitName(request.name, 'pod');
    const pod = await this.pod(request, name);
    const ports = (pod.spec?.containers ?? []).flatMap(({ ports: found = [] }) => found[0]?.containerPort ?? []);
    const host = pod.status?.podIPs?.[0]?.ip ?? '';
    if (!isGlobalUnicast(host)) throw ApiError.badRequest(addressNotAllowed);
    return proxyTo({ scheme, host, port: portOf(port || String(ports[0] ?? ''), scheme), tls: unverified }, request);
  }

  async toService(request: SubresourceRequest): Promise<ForwardPlan> {
    const { scheme, name, port } = splitName(request.name, 'service');
    const endpoint = await this.dependencies.services.find({ ...request, id: request.name, name, port });
    return proxyTo({ scheme, ...endpoint, tls: unverified }, request);
  }

  /** Without a port, or with that of the kubelet, the kubelet is asked with the client certificate of this server. */
  async toNode(request: SubresourceRequest): Promise<ForwardPlan> {
    const { scheme, name, port } = splitName(request.name, 'node');
    const kubelet = await this.dependencies.kubelets.find(name, request.context);
    if (port === '' || port === String(kubelet.port)) return proxyTo(kubelet, request);
    return proxyTo({ scheme, host: kubelet.host, port: portOf(port, scheme), tls: unverified }, request);
  }

  private async pod({ namespace, context }: SubresourceRequest, name: string): Promise<Pod> {
    const { store } = this.dependencies.registry.require(coreVersion.group, coreVersion.version, 'pods');
    return (await store.get(namespace, name, { caller: context })).parse();
  }

  private kubeletOf({ metadata, spec }: Pod, { context }: SubresourceRequest): Promise<ForwardTarget> {
    if (!spec?.nodeName) throw ApiError.badRequest(`pod ${metadata.name ?? ''} does not have a host assigned`);
    return this.dependencies.kubelets.find(spec.nodeName, context);
  }
}

/** As in kube-apiserver: certificates of Pods are not known to it. */
const unverified = { isInsecure: true };

function proxyTo(target: ForwardTarget, { body }: SubresourceRequest): ForwardPlan {
  const { path = '' } = (body ?? {}) as unknown as PodProxyOptions;
  return { type: 'proxy', target, path: cleanPath(path) };
}

const kubeletPath = (action: string, { metadata }: Pod, ...rest: readonly string[]): string =>
  escapePath(`/${[action, metadata.namespace ?? '', metadata.name ?? '', ...rest].join('/')}`);

/** Splits `name`, `name:port` or `scheme:name:port`. */
function splitName(id: string, kind: string): { scheme: 'http' | 'https'; name: string; port: string } {
  const parts = id.split(':');
  const [scheme, name, port] = parts.length === 3 ? parts : ['', parts[0], parts[1] ?? ''];
  const isValid = parts.length <= 3 && name && (scheme === '' || scheme === 'http' || scheme === 'https');
  if (!isValid) throw ApiError.badRequest(`invalid ${kind} request ${goQuote(id)}`);
  return { scheme: scheme === 'https' ? 'https' : 'http', name, port: port };
}

/** Throws 503, as dialling a port that is none does. */
function portOf(text: string, scheme: 'http' | 'https'): number {
  if (text === '') return scheme === 'https' ? 443 : 80;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw ApiError.unavailable(`error trying to reach service: dial tcp: lookup tcp/${text}: unknown port`);
}

/** Returns the name of a container of the Pod; `name` may be empty if there is only one. */
function containerOf({ metadata, spec = {} }: Pod, name: string): string {
  const podName = metadata.name ?? '';
  const { initContainers = [], ephemeralContainers = [] } = spec;
  const containers = spec.containers ?? [];
  const all = [...initContainers, ...containers, ...ephemeralContainers].map(({ name: own = '' }) => own);
  if (name !== '') {
    if (all.includes(name)) return name;
    throw ApiError.badRequest(`container ${name} is not valid for pod ${podName}`);
  }
  if (containers.length === 1) return containers[0]!.name ?? '';
  const choice = containers.length === 0 ? '' : `, choose one of: [${all.join(' ')}]`;
  throw ApiError.badRequest(`a container name must be specified for pod ${podName}${choice}`);
}
