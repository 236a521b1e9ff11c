import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { AdmissionRequest } from '../../src/catalog/types/admission.v1.js';
import type { HttpClient } from './http-client.js';
import { eventually } from './eventually.js';
import { webhookCertificate } from './webhook-certificate.js';
import type { WebhookCertificate } from './review-server.js';

export interface Review {
  readonly apiVersion: string;
  readonly request: AdmissionRequest & { readonly uid: string };
}

interface Received {
  readonly path: string;
  readonly url: string;
  readonly review: Review;
  readonly headers: IncomingMessage['headers'];
  /** Identifies the connection. */
  readonly socket: TLSSocket;
}

type Misbehave = (response: ServerResponse, review: Review, request: IncomingMessage) => void;
/** Returns the fields of `response`, or answers itself. */
export type Answer = (request: Review['request']) => object;

export const registration = '/apis/admissionregistration.k8s.io/v1';
export const configMapRule = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE'],
  resources: ['configmaps'],
};

let count = 0;

/** An HTTPS server with the admission webhooks of a test, each with a path of its own, which records their reviews. */
export class AdmissionWebhooks {
  readonly received: Received[] = [];
  private readonly behaviours = new Map<string, Misbehave>();

  private constructor(
    private readonly server: Server,
    private readonly certificate: WebhookCertificate,
  ) {}

  /** The certificate is for `localhost` and a Service, by default `hook` in namespace `default`. */
  static async start(
    options: { readonly service?: string; readonly host?: string; readonly isExpired?: boolean } = {},
  ): Promise<AdmissionWebhooks> {
    const { service = 'hook.default.svc', host = 'localhost', isExpired = false } = options;
    const names = ['localhost', service];
    const certificate = await webhookCertificate({ hash: 'SHA-256', names, isExpired });
    const server = createServer({ cert: certificate.certificate, key: certificate.key });
    // Longer than a busy machine may pause between two requests of a test.
    server.keepAliveTimeout = 120_000;
    const webhooks = new AdmissionWebhooks(server, certificate);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void webhooks.receive(request, response);
    });
    server.on('tlsClientError', () => undefined);
    server.listen(0, host);
    await once(server, 'listening');
    return webhooks;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** The address on which it listens. */
  get address(): string {
    return (this.server.address() as AddressInfo).address;
  }

  get caBundle(): string {
    return Buffer.from(this.certificate.ca).toString('base64');
  }

  clientConfig(path: string): object {
    return { url: `https://localhost:${this.port}${path}`, caBundle: this.caBundle };
  }

  /** Answers reviews at a path by an AdmissionResponse. */
  on(path: string, answer: Answer): void {
    this.behaviours.set(path, (response, review) => respond(response, review, answer(review.request)));
  }

  onRequest(path: string, misbehave: Misbehave): void {
    this.behaviours.set(path, misbehave);
  }

  /** The requests of the reviews that a path has received. */
  reviews(path: string): readonly Review['request'][] {
    return this.at(path).map(({ review }) => review.request);
  }

  at(path: string): readonly Received[] {
    return this.received.filter((one) => one.path === path);
  }

  async stop(): Promise<void> {
    if (!this.server.listening) return;
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const review = JSON.parse(Buffer.concat(chunks).toString()) as Review;
    const { url = '', headers } = request;
    const path = url.replace(/\?.*$/, '');
    this.received.push({ path, url, review, headers, socket: request.socket as TLSSocket });
    const behave = this.behaviours.get(path);
    if (behave) behave(response, review, request);
    else respond(response, review, { allowed: true });
  }
}

/** Answers with an AdmissionReview for the review. */
export function respond(response: ServerResponse, { apiVersion, request }: Review, fields: object, more = {}): void {
  const body = { apiVersion, kind: 'AdmissionReview', response: { uid: request.uid, ...fields }, ...more };
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

export const patched = (operations: unknown, more: object = {}) => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(typeof operations === 'string' ? operations : JSON.stringify(operations)).toString('base64'),
  ...more,
});

type Kind = 'mutating' | 'validating';

/** A configuration in force. */
interface Installed {
  readonly name: string;
  /** Labels of the objects that its webhooks select. */
  readonly labels: Readonly<Record<string, string>>;
  /** The paths of its webhooks. */
  readonly paths: readonly string[];
}

/** Creates configurations whose webhooks select objects by a label of their own. */
export class WebhookInstaller {
  constructor(
    private readonly admin: HttpClient,
    private readonly webhooks: AdmissionWebhooks,
  ) {}

  /** Creates a configuration, and waits until it is in force. Fields of a webhook replace the defaults. */
  async install(kind: Kind, given: readonly object[], prefix = 'c'): Promise<Installed> {
    const name = `${prefix}-${String(count++).padStart(4, '0')}`;
    const labels = { hook: name };
    const paths = given.map((_webhook, index) => `/${name}/${index}`);
    const objectSelector = { matchLabels: labels };
    const list = given.map((webhook, index) =>
      this.webhook(`h${index}.${name}.test`, paths[index]!, { objectSelector, ...webhook }),
    );
    await this.create(kind, name, list);
    await this.settled(kind);
    return { name, labels, paths };
  }

  /** Waits until all configurations that were created, changed or deleted before are in force. */
  async settled(kind: Kind): Promise<void> {
    // Caches apply changes in order: those before are in force when this one is.
    const name = `z-sentinel-${count++}`;
    const path = `/${name}`;
    const objectSelector = { matchLabels: { sentinel: name } };
    await this.create(kind, name, [this.webhook(`${name}.webhooks.test`, path, { objectSelector })]);
    await eventually('the configurations are in force', async () => {
      const metadata = { name, labels: { sentinel: name } };
      await this.admin.post('/api/v1/namespaces/default/configmaps?dryRun=All', { metadata });
      return this.webhooks.at(path).length > 0;
    });
    const removed = await this.admin.delete(`${registration}/${kind}webhookconfigurations/${name}`);
    expect(removed.code).toBe(200);
  }

  private webhook(name: string, path: string, fields: object): object {
    return {
      name,
      clientConfig: this.webhooks.clientConfig(path),
      rules: [configMapRule],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      ...fields,
    };
  }

  private async create(kind: Kind, name: string, webhooks: readonly object[]): Promise<void> {
    const { code, text } = await this.admin.post(`${registration}/${kind}webhookconfigurations`, {
      metadata: { name },
      webhooks,
    });
    expect([code, code === 201 ? '' : text]).toEqual([201, '']);
  }
}
