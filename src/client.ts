// Public API for programs that send requests to a Kubernetes API server of a kubeconfig.
export { openKubeconfigClient, type ClientOptions } from './kubeconfig-client/open-client.js';
export type { KubeconfigClient, KubeList, PatchOptions, WatchEvent } from './kubeconfig-client/kubeconfig-client.js';
export type { ClientRequest, ClientResponse, RequestOptions } from './kubeconfig-client/http-client.js';
export { ClientError } from './kubeconfig-client/client-error.js';
