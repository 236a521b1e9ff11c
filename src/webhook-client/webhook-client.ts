import { isIPv6 } from 'node:net';
import { ClientError } from '../kubeconfig-client/client-error.js';
import { certificateFlaw, type CertificateFlaw } from '../kubeconfig-client/connection-error.js';
import type { Credentials } from '../kubeconfig-client/credentials.js';
import { connectionRefused, type InjectedCall } from '../kubeconfig-client/injected-call.js';
import { areEqualIdentities, tlsOptions, type TlsIdentity } from '../kubeconfig-client/tls-options.js';
import type { Cancellation } from '../std/cancellation.js';
import type { Clock, Timer } from '../std/clock.js';
import { ConnectionPool, type Endpoint } from './connection-pool.js';
import type { HostCredential, HostCredentials } from './host-credentials.js';
import { hasUsableStatus } from './response-reader.js';
import type { ServiceAddresses } from './service-addresses.js';
import { statusError, transportError, WebhookCallError } from './webhook-call-error.js';
import { WebhookCall } from './webhook-call.js';

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
  readonly signal: Cancellation | undefined;
  /** Of the span of the call. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A delay before the review is sent, or a result instead of sending it. */
  readonly injected?: InjectedCall | undefined;
}

interface WebhookAnswer {
  readonly status: number;
  readonly body: Buffer;
}

const noCredentials: Credentials = { token: undefined, clientCertificate: undefined };
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
  private readonly endpoint: Endpoint;
  private readonly credential: HostCredential | undefined;
  private readonly certificateAuthority: Buffer | undefined;
  private current: { readonly identity: TlsIdentity; readonly pool: ConnectionPool } | undefined;
  /** Of calls without credentials, by timeout. */
  private readonly heads = new Map<number, string>();

  constructor(
    private readonly address: WebhookAddress,
    private readonly dependencies: WebhookClientDependencies,
  ) {
    this.shownUrl = urlOf(address);
    this.target = new URL(this.shownUrl);
    if (this.target.protocol !== 'https:') throw new Error('the URL of a webhook must begin with https://');
    this.serverName = this.target.hostname.replace(/^\[|\]$/g, '');
    const port = this.target.port || String(portDefault);
    this.endpoint = { host: this.serverName, port: Number(port) };
    this.credential = dependencies.credentials.of(this.target.hostname, port);
    const { caBundle = '' } = address;
    if (caBundle !== '') this.certificateAuthority = Buffer.from(caBundle, 'base64');
  }

  /** Resolves with the body of the answer. Rejects with WebhookCallError, or with the reason of the signal. */
  async post(body: string | Buffer, { timeoutSeconds, signal, headers, injected }: CallOptions): Promise<Buffer> {
    const { clock, answerBytesMax } = this.dependencies;
    const call = new WebhookCall(answerBytesMax, signal);
    const timer = clock.after(timeoutSeconds * 1000, () => {
      call.abort(new WebhookCallError(`Post "${this.urlWith(timeoutSeconds)}": context deadline exceeded`, 504));
    });
    let endpoint = this.endpoint;
    let credentials = noCredentials;
    const send = async (): Promise<WebhookAnswer> => {
      endpoint = this.resolve();
      if (injected?.result === 'connection refused') throw connectionRefused();
      if (this.credential) credentials = await call.orAborted(this.credential.source.get());
      const pool = this.poolWith(credentials.clientCertificate);
      return call.send(pool, endpoint, this.requestOf(body, { timeoutSeconds, headers }, credentials));
    };
    try {
      const { status, body: answer } = (injected && (await this.inject(injected, call))) ?? (await send());
      if (hasUsableStatus(status)) return answer;
      if (status === 401) this.credential?.source.reject(credentials);
      throw statusError(status);
    } catch (error) {
      if (call.abortReason) throw call.abortReason;
      throw this.converted(error, timeoutSeconds, endpoint);
    } finally {
      timer.cancel();
      call.end();
    }
  }

  /** Resolves with the injected answer, or with undefined if the review is to be sent. */
  private async inject({ latencyMs, result }: InjectedCall, call: WebhookCall): Promise<WebhookAnswer | undefined> {
    if (latencyMs > 0) {
      let timer: Timer | undefined;
      const waited = new Promise<void>((resolve) => (timer = this.dependencies.clock.after(latencyMs, resolve)));
      await call.orAborted(waited).finally(() => timer?.cancel());
    }
    if (result === 'no answer') return call.orAborted(new Promise<never>(() => undefined));
    return typeof result === 'object' ? result : undefined;
  }

  close(): void {
    this.current?.pool.close();
    this.current = undefined;
  }

  private converted(error: unknown, timeoutSeconds: number, { host, port }: Endpoint): WebhookCallError {
    if (error instanceof WebhookCallError) return error;
    this.forgetAddress();
    const flaw = certificateFlaw(error);
    if (flaw) this.dependencies.refusedCertificate(flaw);
    const address = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
    return transportError(error, { url: this.urlWith(timeoutSeconds), serverName: this.serverName, address });
  }

  private urlWith(timeoutSeconds: number): string {
    return `${this.shownUrl}?timeout=${timeoutSeconds}s`;
  }

  /** Returns the bytes of a request: in one piece, unless copying the body would cost more than another piece. */
  private requestOf(
    body: string | Buffer,
    { timeoutSeconds, headers }: Omit<CallOptions, 'signal'>,
    credentials: Credentials,
  ): (string | Buffer)[] {
    const length = Buffer.byteLength(body);
    let head = `${this.headOf(timeoutSeconds, credentials)}${length}\r\n`;
    if (headers) for (const name in headers) head += headerLine(name, headers[name]!);
    head += '\r\n';
    if (typeof body !== 'string') return [Buffer.from(head, 'latin1'), body];
    const bytes = Buffer.allocUnsafe(head.length + length);
    bytes.write(head, 'latin1');
    bytes.write(body, head.length, 'utf8');
    return [bytes];
  }

  /** Returns the head of a request up to the number of its bytes. */
  private headOf(timeoutSeconds: number, { token }: Credentials): string {
    const known = this.heads.get(timeoutSeconds);
    if (known !== undefined) return known;
    const headers = {
      Host: this.target.host,
      Accept: 'application/json, */*',
      'Content-Type': 'application/json',
      'User-Agent': 'kube-apiserver-admission',
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...this.credential?.headers,
    };
    const lines = Object.entries(headers).flatMap(([name, values]) =>
      (typeof values === 'string' ? [values] : values).map((value) => headerLine(name, value)),
    );
    const path = `${this.target.pathname}?timeout=${timeoutSeconds}s`;
    const head = `POST ${path} HTTP/1.1\r\n${lines.join('')}Content-Length: `;
    if (!this.credential) this.heads.set(timeoutSeconds, head);
    return head;
  }

  /** Returns the connections with a client certificate; a changed one closes those with the previous one. */
  private poolWith(clientCertificate: Credentials['clientCertificate']): ConnectionPool {
    const { current, certificateAuthority, serverName: tlsServerName } = this;
    if (current?.identity.clientCertificate === clientCertificate && current) return current.pool;
    const identity = { certificateAuthority, clientCertificate };
    if (current && areEqualIdentities(current.identity, identity)) return current.pool;
    const cluster = { server: this.target, tlsServerName, skipsTlsVerify: false };
    try {
      const tls = tlsOptions({ location: 'of a webhook', cluster, user: { clientCertificate: undefined } }, identity);
      current?.pool.close();
      const pool = new ConnectionPool(tls, this.dependencies.clock);
      this.current = { identity, pool };
      return pool;
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

  /** Returns the address to connect to: that of the URL, or an endpoint of the Service. */
  private resolve(): Endpoint {
    const { service } = this.address;
    if (!service) return this.endpoint;
    const { namespace = '', name = '', port = portDefault } = service;
    return this.dependencies.services.resolve(namespace, name, port);
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

/** Throws as Node does for characters that would end the header. */
function headerLine(name: string, value: string): string {
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    throw Object.assign(new Error(`the value of header ${name} has invalid characters`), { code: 'ERR_INVALID_CHAR' });
  }
  return `${name}: ${value}\r\n`;
}
