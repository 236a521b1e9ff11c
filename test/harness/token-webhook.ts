import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { makeEphemeralPki } from '../../src/certificates/ephemeral-pki.js';
import { systemClock } from '../../src/std/clock.js';

/** PEM of a server's certificate, of its key and of its CA. */
export interface WebhookCertificate {
  readonly certificate: string;
  readonly key: string;
  readonly ca: string;
}

interface TokenReview {
  readonly kind: string;
  readonly apiVersion: string;
  readonly spec: { readonly token: string; readonly audiences?: readonly string[] };
}

interface ReviewRequest {
  readonly review: TokenReview;
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  /** Common name of the client certificate. */
  readonly clientName: string | undefined;
}

type Answer = (token: string, response: ServerResponse, request: IncomingMessage) => void;

/** An HTTPS server that answers TokenReviews as a test says, and records them. */
export class WebhookServer {
  readonly requests: ReviewRequest[] = [];
  /** Number of requests whose connection was closed before their answer. */
  cancelled = 0;
  /** Rejects all tokens by default. */
  answer: Answer = (_token, response) => respond(response, { authenticated: false });

  private constructor(
    private readonly server: Server,
    /** PEM of the CA that signed its certificate. */
    readonly ca: string,
  ) {}

  static async start(given?: WebhookCertificate): Promise<WebhookServer> {
    const { certificate: cert, key, ca } = given ?? (await certificateOfPki());
    // Level 0 lets the server use a certificate that is signed with SHA-1.
    const tls = { cert, key, ca, ciphers: 'DEFAULT:@SECLEVEL=0' };
    const server = createServer({ ...tls, requestCert: true, rejectUnauthorized: false });
    const webhook = new WebhookServer(server, ca);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void webhook.receive(request, response);
    });
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return webhook;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.server.address() as AddressInfo).port}/authenticate`;
  }

  get reviews(): readonly TokenReview[] {
    return this.requests.map(({ review }) => review);
  }

  /** Number of TokenReviews with this token. */
  asked(token: string): number {
    return this.reviews.filter(({ spec }) => spec.token === token).length;
  }

  async stop(): Promise<void> {
    if (!this.server.listening) return;
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    response.on('close', () => void (response.writableFinished || this.cancelled++));
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const review = JSON.parse(Buffer.concat(chunks).toString()) as TokenReview;
    const { method, url, headers } = request;
    const socket = request.socket as TLSSocket;
    // A resumed session without a client certificate is authorized, too.
    const name: unknown = socket.authorized ? socket.getPeerCertificate().subject?.CN : undefined;
    this.requests.push({ review, method, url, headers, clientName: typeof name === 'string' ? name : undefined });
    this.answer(review.spec.token, response, request);
  }
}

async function certificateOfPki(): Promise<WebhookCertificate> {
  const pki = await makeEphemeralPki({ clock: systemClock });
  return { ...pki.serving!.current(), ca: pki.authority.current().pem };
}

/** Answers with a TokenReview of the version that kube-apiserver asks for by default. */
export function respond(response: ServerResponse, status: unknown, more: Record<string, unknown> = {}): void {
  const review = { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1beta1', ...more, status };
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(review));
}

/** Accepts every token as a user of its name. */
export const acceptAll: Answer = (token, response) =>
  respond(response, { authenticated: true, user: { username: token } });
