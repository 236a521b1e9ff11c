import { ApiError } from '../../machinery/api-error.js';
import { asFields, asItems, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { SubresourceRequest } from '../../registry/apis/api-group.js';
import type { SubresourceDefinition } from '../../registry/definition/resource-definition.js';
import { coreVersion } from './core.version.js';

/**
 * Subresources behind which another process answers: the agent of a node, or a pod. Who may ask, and whether there is
 * anything to connect to, is decided here.
 */
const connection = (kind: string, verbs: SubresourceVerbs): SubresourceDefinition => ({
  type: 'handled',
  verbs,
  kind: { ...coreVersion, kind },
  connects: true,
});
type SubresourceVerbs = Extract<SubresourceDefinition, { type: 'handled' }>['verbs'];

const streams = ['create', 'get'] as const;
const proxies = ['create', 'delete', 'get', 'patch', 'update'] as const;

export const podConnections = {
  attach: connection('PodAttachOptions', streams),
  exec: connection('PodExecOptions', streams),
  log: { ...connection('Pod', ['get']), text: { options: { ...coreVersion, kind: 'PodLogOptions' } } },
  portforward: connection('PodPortForwardOptions', streams),
  proxy: connection('PodProxyOptions', proxies),
};
export const serviceConnections = { proxy: connection('ServiceProxyOptions', proxies) };
export const nodeConnections = { proxy: connection('NodeProxyOptions', proxies) };

/** Throws what keeps the connection from being made. */
export type ConnectionRule = (object: KubeObject, query: SubresourceRequest['query']) => void;

const noAgents = (what: string): ApiError =>
  ApiError.unavailable(`${what}: this server has no connection to the agents of nodes`);
const noNetwork = (what: string): ApiError =>
  ApiError.unavailable(`${what}: this server has no connection to the network of pods`);

function containerOf(pod: KubeObject, wanted: string): string {
  const name = pod.metadata.name ?? '';
  const spec = asFields(pod['spec']);
  const containers = asItems(spec['containers']).map((it) => asText(it['name']));
  const others = ['initContainers', 'ephemeralContainers'].flatMap((list) =>
    asItems(spec[list]).map((it) => asText(it['name'])),
  );
  if (wanted !== '') {
    if ([...containers, ...others].includes(wanted)) return wanted;
    throw ApiError.badRequest(`container ${wanted} is not valid for pod ${name}`);
  }
  if (containers.length === 1) return containers[0]!;
  if (containers.length === 0) throw ApiError.badRequest(`a container name must be specified for pod ${name}`);
  const init = asItems(spec['initContainers']).map((it) => asText(it['name']));
  const also = init.length > 0 ? ` or one of the init containers: [${init.join(' ')}]` : '';
  throw ApiError.badRequest(
    `a container name must be specified for pod ${name}, choose one of: [${containers.join(' ')}]${also}`,
  );
}

const isOnNode = (pod: KubeObject): boolean => asText(asFields(pod['spec'])['nodeName']) !== '';

/** exec and attach: a stream with one of the containers. */
export const streamsWithContainer: ConnectionRule = (pod, query) => {
  containerOf(pod, query.first('container') ?? '');
  requireNode(pod);
  throw noAgents(`cannot reach pod ${pod.metadata.name ?? ''}`);
};

export const forwardsPorts: ConnectionRule = (pod) => {
  requireNode(pod);
  throw noAgents(`cannot reach pod ${pod.metadata.name ?? ''}`);
};

function requireNode(pod: KubeObject): void {
  if (isOnNode(pod)) return;
  throw ApiError.badRequest(`pod ${pod.metadata.name ?? ''} does not have a host assigned`);
}

/** A pod that runs nowhere has written nothing: that is an empty answer, not an error. */
export const readsLog: ConnectionRule = (pod, query) => {
  containerOf(pod, query.first('container') ?? '');
  if (isOnNode(pod)) throw noAgents(`cannot read the log of pod ${pod.metadata.name ?? ''}`);
};

export const proxiesToPod: ConnectionRule = (pod) => {
  const { podIPs, podIP } = asFields(pod['status']);
  const address = asText(asItems(podIPs)[0]?.['ip']) || asText(podIP);
  if (address === '') throw ApiError.badRequest('address not allowed');
  throw noNetwork(`cannot reach pod ${pod.metadata.name ?? ''}`);
};

export const proxiesToService: ConnectionRule = (service) => {
  throw noNetwork(`cannot reach service ${service.metadata.name ?? ''}`);
};

export const proxiesToNode: ConnectionRule = (node) => {
  throw noAgents(`cannot reach node ${node.metadata.name ?? ''}`);
};
