import { isIPv6 } from 'node:net';
import { Connections } from '../kubeconfig-client/connections.js';
import { ClientError } from '../kubeconfig-client/client-error.js';
import { certificateFlaw, type CertificateFlaw } from '../kubeconfig-client/connection-error.js';
import type { Credentials } from '../kubeconfig-client/credentials.js';
import { Deadline } from '../kubeconfig-client/deadline.js';
import { exchange, readBody } from '../kubeconfig-client/exchange.js';
import type { Clock } from '../std/clock.js';
import type { HostCredential, HostCredentials } from './host-credentials.js';
import type { ServiceAddresses } from './service-addresses.js';
import { statusError, transportError, WebhookCallError, type CallSubject } from './webhook-call-error.js';

/** WebhookClientConfig of admission webhooks and of conversion webhooks. */
export interface WebhookAddress {
  readonly url?: string | undefined;
  readonly service?:
    | {
        readonly namespace?: string | undefined;
        readonly name?: string | undefined;
        readonly path?: string | undefined;
        readonly port?: number | undefined;
      }
    | undefined;
  /** PEM in base64. */
  readonly caBundle?: string | undefined;
}

interface WebhookClientDependencies {
  readonly services: ServiceAddresses;
  readonly credentials: HostCredentials;
  readonly clock: Clock;
  /** Limit on the body of an answer. */
  readonly answerBytesMax: number;
  /** Counts a connection that failed because of the certificate of the webhook. */
  readonly refusedCertificate: (flaw: CertificateFlaw) => void;
}

interface CallOptions {
  readonly timeoutSeconds: number;
  /** Of the request that waits for the answer. */
  readonly signal: AbortSignal | undefined;
}

const noCredentials: Credentials = { token: undefined, clientCertificate: undefined };
/** Requests that wait for a webhook that is slow; more wait for one of these connections. */
const connectionsMax = 256;
const portDefault = 443;

/**
 * Sends reviews to one webhook over connections that are kept open. TLS is verified with caBundle, or with the public
 * CAs of Node. Redirects are not followed.
 */
export class WebhookClient {
  private readonly target: URL;
  /** For messages: with the port of a Service, as in kube-apiserver. */
  private readonly shownUrl: string;
  private readonly serverName: string;
  private readonly credential: HostCredential | undefined;
  private readonly connections: Connections;
  private readonly certificateAuthority: Buffer | undefined;

  constructor(
    private readonly address: WebhookAddress,
    private readonly dependencies: WebhookClientDependencies,
  ) {
    this.shownUrl = urlOf(address);
    this.target = new URL(this.shownUrl);
    this.serverName = this.target.hostname.replace(/^\[|\]$/g, '');
    this.credential = dependencies.credentials.of(this.target.hostname, this.target.port || String(portDefault));
    const { caBundle = '' } = address;
    if (caBundle !== '') this.certificateAuthority = Buffer.from(caBundle, 'base64');
    const isService = address.service !== undefined;
    this.connections = new Connections(
      {
        location: 'of a webhook',
        cluster: {
          server: this.target,
          tlsServerName: isService ? this.serverName : undefined,
          skipsTlsVerify: false,
        },
        user: { clientCertificate: undefined },
      },
      connectionsMax,
    );
  }

  /** Resolves with the body of the answer. Rejects with WebhookCallError, or with the reason of the signal. */
  async post(body: Buffer, { timeoutSeconds, signal }: CallOptions): Promise<Buffer> {
    const { clock } = this.dependencies;
    const url = `${this.shownUrl}?timeout=${timeoutSeconds}s`;
    const timedOut = () => new WebhookCallError(`Post "${url}": context deadline exceeded`, 504);
    const deadline = new Deadline(clock, timeoutSeconds * 1000, timedOut, signal);
    try {
      return await this.send(body, url, timeoutSeconds, deadline);
    } finally {
      deadline.end();
    }
  }

  close(): void {
    this.connections.close();
  }

  private async send(body: Buffer, url: string, timeoutSeconds: number, deadline: Deadline): Promise<Buffer> {
    const { answerBytesMax, refusedCertificate } = this.dependencies;
    const server = this.server();
    const subject: CallSubject = { url, serverName: this.serverName, address: `${server.hostname}:${portOf(server)}` };
    try {
      const credentials = this.credential ? await deadline.wait(this.credential.source.get()) : noCredentials;
      const { token, clientCertificate } = credentials;
      const message = await exchange(this.connection(clientCertificate), {
        method: 'POST',
        server,
        path: `${this.target.pathname}?timeout=${timeoutSeconds}s`,
        // A webhook may get a review twice anyway, when the write is tried again.
        isRepeatable: true,
        headers: {
          Host: this.target.host,
          Accept: 'application/json, */*',
          'Content-Type': 'application/json',
          'User-Agent': 'kube-apiserver-admission',
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
          ...this.credential?.headers,
        },
        body,
        signal: deadline.signal,
      });
      const { statusCode = 0 } = message;
      if (statusCode < 200 || statusCode > 206) {
        if (statusCode === 401) this.credential?.source.reject(credentials);
        // The body is not read: it may be long, and has no meaning.
        message.destroy();
        throw statusError(statusCode);
      }
      return await readBody(message, answerBytesMax, url);
    } catch (error) {
      if (deadline.signal.aborted) throw deadline.signal.reason;
      if (error instanceof WebhookCallError) throw error;
      this.forgetAddress();
      const flaw = certificateFlaw(error);
      if (flaw) refusedCertificate(flaw);
      throw transportError(error, subject);
    }
  }

  private connection(clientCertificate: Credentials['clientCertificate']) {
    try {
      return this.connections.with({ certificateAuthority: this.certificateAuthority, clientCertificate });
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      const problem = clientCertificate ? 'or the client certificate ' : '';
      throw new WebhookCallError(
        `unable to load root certificates: caBundle ${problem}cannot be used; write PEM certificates into it`,
        400,
        { cause: error },
      );
    }
  }

  /** The server to connect to: that of the URL, or an endpoint of the Service. */
  private server(): URL {
    const { service } = this.address;
    if (!service) return this.target;
    const { namespace = '', name = '', port = portDefault } = service;
    const { host, port: hostPort } = this.dependencies.services.resolve(namespace, name, port);
    return new URL(`https://${isIPv6(host) ? `[${host}]` : host}:${hostPort}`);
  }

  private forgetAddress(): void {
    const { service } = this.address;
    if (!service) return;
    const { namespace = '', name = '', port = portDefault } = service;
    this.dependencies.services.forget(namespace, name, port);
  }
}

/** The URL of the configuration; for a Service, with the name that its certificate must have. */
function urlOf({ url = '', service }: WebhookAddress): string {
  if (!service) return url;
  const { namespace = '', name = '', path = '', port = portDefault } = service;
  return `https://${name}.${namespace}.svc:${port}${path.startsWith('/') ? '' : '/'}${path}`;
}

const portOf = (server: URL): string => server.port || String(portDefault);
