import { systemClock, type Clock } from '../std/clock.js';
import { ClientError } from './client-error.js';
import { Connections } from './connections.js';
import { HttpClient } from './http-client.js';
import { KubeconfigClient } from './kubeconfig-client.js';
import { LiveContent } from './live-content.js';
import { loadKubeconfig, type KubeconfigOptions } from './load-kubeconfig.js';
import { StoredCredentials } from './stored-credentials.js';

export interface ClientOptions extends KubeconfigOptions {
  readonly clock?: Clock;
  /** Limit on connections; each watch needs one. Default: 256. */
  readonly connectionsMax?: number;
}

/** Twice the streams of an HTTP/2 connection of Go's clients. */
const connectionsMaxDefault = 256;

/** Reads a kubeconfig and the files that it names. Sends nothing until the first request. */
export async function openKubeconfigClient(options: ClientOptions = {}): Promise<KubeconfigClient> {
  const { clock = systemClock, connectionsMax = connectionsMaxDefault } = options;
  const kubeconfig = await loadKubeconfig(options);
  const { cluster, user, location } = kubeconfig;
  const hasCredentials = user.token ?? user.tokenFile ?? user.plugin ?? user.clientCertificate;
  if (cluster.server.protocol === 'http:' && hasCredentials !== undefined) {
    throw new ClientError(
      'Kubeconfig',
      `kubeconfig ${location}: credentials are not sent to ${cluster.server.origin}; use https in server`,
    );
  }
  if (user.plugin) throw new ClientError('Kubeconfig', `kubeconfig ${location}: exec is not supported; use a token`);
  const source = cluster.certificateAuthority;
  const certificateAuthority =
    source && new LiveContent(source, `certificate-authority of kubeconfig ${location}`, clock);
  const credentials = new StoredCredentials(kubeconfig, clock);
  const connections = new Connections(kubeconfig, connectionsMax);
  // Finds errors in files before the first request.
  const { clientCertificate } = await credentials.get();
  connections.with({ certificateAuthority: await certificateAuthority?.read(), clientCertificate });
  const http = new HttpClient({ kubeconfig, certificateAuthority, credentials, connections, clock });
  return new KubeconfigClient(http, kubeconfig.namespace || 'default');
}
