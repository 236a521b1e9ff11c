import type { Pod } from '../../catalog/types/core.v1.js';
import { ApiError } from '../../machinery/api-error.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { SubresourceDefinition } from '../../registry/definition/resource-definition.js';
import { coreVersion } from './core.version.js';

/**
 * Subresources that connect to a kubelet or to a Pod (exec, log, proxy). This server does not connect: it authorizes and
 * validates such requests, and refuses those that kube-apiserver would forward (503).
 */
const connection = (kind: string, verbs: SubresourceVerbs): SubresourceDefinition => ({
  type: 'handled',
  verbs,
  kind: { ...coreVersion, kind },
  connects: true,
});
type SubresourceVerbs = Extract<SubresourceDefinition, { type: 'handled' }>['verbs'];

const streamVerbs = ['create', 'get'] as const;
const proxyVerbs = ['create', 'delete', 'get', 'patch', 'update'] as const;

export const podConnections = {
  attach: connection('PodAttachOptions', streamVerbs),
  exec: connection('PodExecOptions', streamVerbs),
  // A read: admission does not see it.
  log: { ...connection('Pod', ['get']), connects: false, text: { options: { ...coreVersion, kind: 'PodLogOptions' } } },
  portforward: connection('PodPortForwardOptions', streamVerbs),
  proxy: connection('PodProxyOptions', proxyVerbs),
};
export const serviceConnections = { proxy: connection('ServiceProxyOptions', proxyVerbs) };
export const nodeConnections = { proxy: connection('NodeProxyOptions', proxyVerbs) };

/** Throws the error of a connection to `object`; `container` is empty if the request names none. */
export type ConnectionRule = (object: KubeObject, container: string) => void;

const noKubelets = (problem: string): ApiError =>
  ApiError.unavailable(`${problem}: this server does not connect to kubelets`);
const noPodNetwork = (problem: string): ApiError =>
  ApiError.unavailable(`${problem}: this server does not connect to the Pod network`);

/** Requires the name of a container of the Pod; it may be empty if there is only one. */
function requireContainer({ metadata, spec = {} }: Pod, containerName: string): void {
  const { initContainers = [], ephemeralContainers = [] } = spec;
  const podName = metadata.name ?? '';
  const names = (spec.containers ?? []).map(({ name = '' }) => name);
  const initNames = initContainers.map(({ name = '' }) => name);
  const ephemeralNames = ephemeralContainers.map(({ name = '' }) => name);
  if (containerName !== '') {
    if ([...names, ...initNames, ...ephemeralNames].includes(containerName)) return;
    throw ApiError.badRequest(`container ${containerName} is not valid for pod ${podName}`);
  }
  if (names.length === 1) return;
  if (names.length === 0) throw ApiError.badRequest(`a container name must be specified for pod ${podName}`);
  const also = initNames.length > 0 ? ` or one of the init containers: [${initNames.join(' ')}]` : '';
  throw ApiError.badRequest(
    `a container name must be specified for pod ${podName}, choose one of: [${names.join(' ')}]${also}`,
  );
}

const isScheduled = ({ spec }: Pod): boolean => Boolean(spec?.nodeName);

/** exec and attach. */
export const streamsWithContainer: ConnectionRule = (pod: Pod, container) => {
  requireContainer(pod, container);
  requireScheduled(pod);
  throw noKubelets(`cannot reach pod ${pod.metadata.name ?? ''}`);
};

export const forwardsPorts: ConnectionRule = (pod: Pod) => {
  requireScheduled(pod);
  throw noKubelets(`cannot reach pod ${pod.metadata.name ?? ''}`);
};

function requireScheduled(pod: Pod): void {
  if (isScheduled(pod)) return;
  throw ApiError.badRequest(`pod ${pod.metadata.name ?? ''} does not have a host assigned`);
}

/** The log of a Pod that is not scheduled is empty. */
export const readsLog: ConnectionRule = (pod: Pod, container) => {
  requireContainer(pod, container);
  if (isScheduled(pod)) throw noKubelets(`cannot read the log of pod ${pod.metadata.name ?? ''}`);
};

export const proxiesToPod: ConnectionRule = ({ metadata, status = {} }: Pod) => {
  const { podIPs = [], podIP } = status;
  if (!podIPs[0]?.ip && !podIP) throw ApiError.badRequest('address not allowed');
  throw noPodNetwork(`cannot reach pod ${metadata.name ?? ''}`);
};

export const proxiesToService: ConnectionRule = (service) => {
  throw noPodNetwork(`cannot reach service ${service.metadata.name ?? ''}`);
};

export const proxiesToNode: ConnectionRule = (node) => {
  throw noKubelets(`cannot reach node ${node.metadata.name ?? ''}`);
};
