import type { Node } from '../../catalog/types/core.v1.js';
import type { ForwardTarget, ForwardTls } from '../../forwarding/forward-target.js';
import { ApiError } from '../../machinery/api-error.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import type { RequestContext } from '../../registry/request-context.js';
import { coreVersion } from './core.version.js';

interface KubeletOptions {
  /** --kubelet-preferred-address-types. */
  readonly preferredAddressTypes: readonly string[];
  /** The port of kubelets whose Nodes name none. */
  readonly port: number;
  /** The CA and client certificate for kubelets, as they are now. */
  readonly tls: () => ForwardTls;
}

/** Finds the kubelets of nodes, by the addresses in the status of the Node. */
export class Kubelets {
  constructor(
    private readonly registry: ResourceRegistry,
    private readonly options: KubeletOptions,
  ) {}

  /** Throws 404 if there is no such Node, and 500 if it has no address of a preferred type. */
  async find(nodeName: string, caller: RequestContext, { skipsTlsVerification = false } = {}): Promise<ForwardTarget> {
    const { store } = this.registry.require(coreVersion.group, coreVersion.version, 'nodes');
    const node: Node = (await store.get('', nodeName, { caller })).parse();
    const { port } = this.options;
    const { ca, ...identity } = this.options.tls();
    return {
      scheme: 'https',
      host: this.addressOf(node),
      port: node.status?.daemonEndpoints?.kubeletEndpoint?.Port || port,
      // Without a CA, kubelets are not verified, as in kube-apiserver.
      tls: skipsTlsVerification || ca === undefined ? { ...identity, isInsecure: true } : { ...identity, ca },
      translatesWebSockets: node.status?.declaredFeatures?.includes('ExtendWebSocketsToKubelet') ?? false,
    };
  }

  private addressOf({ status }: Node): string {
    const addresses = status?.addresses ?? [];
    for (const preferred of this.options.preferredAddressTypes) {
      const found = addresses.find(({ type }) => type === preferred);
      if (found) return found.address ?? '';
    }
    const known = addresses.map(({ type = '', address = '' }) => `{${type} ${address}}`).join(' ');
    throw new ApiError({
      reason: 'Unknown',
      message: `no preferred addresses found; known addresses: [${known}]`,
      isExternal: true,
    });
  }
}
