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

interface ReviewRequest<Review> {
  readonly review: Review;
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  /** Common name of the client certificate. */
  readonly clientName: string | undefined;
}

/** An HTTPS server that gets reviews of one kind, and records them. */
export abstract class ReviewServer<Review> {
  readonly requests: ReviewRequest<Review>[] = [];
  /** Number of requests whose connection was closed before their answer. */
  cancelled = 0;

  protected constructor(
    private readonly server: Server,
    /** PEM of the CA that signed its certificate. */
    readonly ca: string,
    /** `/authenticate` */
    private readonly path: string,
  ) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void this.receive(request, response);
    });
  }

  protected abstract reply(review: Review, response: ServerResponse, request: IncomingMessage): void;

  get url(): string {
    return `https://127.0.0.1:${this.port}${this.path}`;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get reviews(): readonly Review[] {
    return this.requests.map(({ review }) => review);
  }

  /** Number of open connections. */
  connections(): Promise<number> {
    return new Promise((resolve, reject) =>
      this.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
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
    const review = JSON.parse(Buffer.concat(chunks).toString()) as Review;
    const { method, url, headers } = request;
    const socket = request.socket as TLSSocket;
    // A resumed session without a client certificate is authorized, too.
    const name: unknown = socket.authorized ? socket.getPeerCertificate().subject?.CN : undefined;
    this.requests.push({ review, method, url, headers, clientName: typeof name === 'string' ? name : undefined });
    this.reply(review, response, request);
  }
}

/** Listens on 127.0.0.1, with a certificate of a new CA by default. */
export async function listenForReviews(given?: WebhookCertificate): Promise<{ server: Server; ca: string }> {
  const { certificate: cert, key, ca } = given ?? (await certificateOfPki());
  // Level 0 lets the server use a certificate that is signed with SHA-1.
  const tls = { cert, key, ca, ciphers: 'DEFAULT:@SECLEVEL=0' };
  const server = createServer({ ...tls, requestCert: true, rejectUnauthorized: false });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, ca };
}

async function certificateOfPki(): Promise<WebhookCertificate> {
  const pki = await makeEphemeralPki({ clock: systemClock });
  return { ...pki.serving!.current(), ca: pki.authority.current().pem };
}
