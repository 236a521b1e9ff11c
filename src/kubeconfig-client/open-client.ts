import { systemClock, type Clock } from '../std/clock.js';
import { silentLogger, type Logger } from '../std/logger.js';
import { ClientError } from './client-error.js';
import { Connections } from './connections.js';
import type { CredentialSource } from './credentials.js';
import { HttpClient } from './http-client.js';
import type { Kubeconfig } from './kubeconfig.js';
import { KubeconfigClient } from './kubeconfig-client.js';
import { LiveContent } from './live-content.js';
import { kubernetesNaming, loadKubeconfig, type KubeconfigOptions } from './load-kubeconfig.js';
import { PluginCredentialSource } from './plugin-credentials.js';
import { StoredCredentials } from './stored-credentials.js';

export interface ClientOptions extends KubeconfigOptions {
  readonly clock?: Clock;
  /** Limit on connections; each watch needs one. Default: 256. */
  readonly connectionsMax?: number;
  /** Limit on a run of a credential plug-in. Default: 60 s. */
  readonly pluginTimeoutMs?: number;
  /** Gets messages of credential plug-ins. */
  readonly logger?: Logger;
}

/** Twice the streams of an HTTP/2 connection of Go's clients. */
const connectionsMaxDefault = 256;
/** A person may have to log in. */
const pluginTimeoutMsDefault = 60_000;

const noCredentials = { clientCertificate: undefined };

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
  const source = cluster.certificateAuthority;
  const certificateAuthority =
    source && new LiveContent(source, `certificate-authority of kubeconfig ${location}`, clock);
  const credentials = credentialSource(kubeconfig, certificateAuthority, options);
  const connections = new Connections(kubeconfig, connectionsMax);
  // Finds errors in files before the first request; a plug-in runs for the first request.
  const { clientCertificate } = credentials instanceof StoredCredentials ? await credentials.get() : noCredentials;
  connections.with({ certificateAuthority: await certificateAuthority?.read(), clientCertificate });
  const http = new HttpClient({ kubeconfig, certificateAuthority, credentials, connections, clock });
  return new KubeconfigClient(http, kubeconfig.namespace || 'default');
}

/** A token or client certificate in the kubeconfig is used instead of a plug-in, as in other clients. */
function credentialSource(
  kubeconfig: Kubeconfig,
  certificateAuthority: LiveContent | undefined,
  { clock = systemClock, logger = silentLogger, pluginTimeoutMs = pluginTimeoutMsDefault, naming }: ClientOptions,
): CredentialSource {
  const { plugin, token, tokenFile, clientCertificate } = kubeconfig.user;
  if (!plugin || (token ?? tokenFile ?? clientCertificate) !== undefined)
    return new StoredCredentials(kubeconfig, clock);
  return new PluginCredentialSource({
    kubeconfig,
    plugin,
    certificateAuthority,
    variable: (naming ?? kubernetesNaming()).execInfoVariable,
    timeoutMs: pluginTimeoutMs,
    clock,
    logger,
    // Undefined, despite its type, if standard input is no terminal.
    hasTerminal: () => Boolean(process.stdin.isTTY),
  });
}
