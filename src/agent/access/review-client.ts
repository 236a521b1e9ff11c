import type { KubeconfigClient } from '../../kubeconfig-client/kubeconfig-client.js';

/** Returns a client for webhooks, whose reviews it creates at this path of the API server. */
export function reviewClient(client: KubeconfigClient, path: string): Pick<KubeconfigClient, 'request' | 'close'> {
  return {
    request: (request) => client.request({ ...request, path }),
    // The client belongs to the agent.
    close: () => undefined,
  };
}
