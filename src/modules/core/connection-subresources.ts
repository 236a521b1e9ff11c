import type { SubresourceDefinition } from '../../registry/definition/resource-definition.js';
import { coreVersion } from './core.version.js';

/** Subresources that connect to a kubelet or to a Pod (exec, log, proxy). */
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
