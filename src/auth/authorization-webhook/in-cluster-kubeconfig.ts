import { isIPv6 } from 'node:net';
import { encodeJson } from '../../codec/json.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { ClientError } from '../../kubeconfig-client/client-error.js';

/** The surroundings of a container of a Pod. */
export interface PodSurroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Directory with the token and the CA of the ServiceAccount. */
  readonly directory: string;
}

export const podSurroundings = (naming: NamingProfile): PodSurroundings => ({
  environment: process.env,
  directory: `/var/run/secrets/${naming.label('serviceaccount')}`,
});

/**
 * Returns the kubeconfig of a container for the SubjectAccessReviews of its cluster: address of the environment, CA and
 * token of the ServiceAccount. Both files are read again when they have changed.
 */
export function inClusterKubeconfig({ environment, directory }: PodSurroundings, apiVersion: string): string {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' } = environment;
  if (host === '' || port === '') {
    throw new ClientError(
      'Kubeconfig',
      'InClusterConfig needs KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT; run in a Pod, or use KubeConfigFile',
    );
  }
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}/apis/${apiVersion}/subjectaccessreviews`;
  const cluster = { server, 'certificate-authority': `${directory}/ca.crt` };
  const user = { tokenFile: `${directory}/token` };
  const kubeconfig = {
    'current-context': 'pod',
    contexts: [{ name: 'pod', context: { cluster: 'pod', user: 'pod' } }],
    clusters: [{ name: 'pod', cluster }],
    users: [{ name: 'pod', user }],
  };
  return encodeJson(kubeconfig).toString();
}
