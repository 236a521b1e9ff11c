import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeEphemeralPki } from '../../src/certificates/ephemeral-pki.js';
import { systemClock } from '../../src/std/clock.js';

/** An HTTPS server on loopback, with a CA of its own, that gets JSON bodies and answers as a test says. */
export class HttpsJsonServer<Body> {
  /** All bodies that it got. */
  readonly bodies: Body[] = [];
  answer: (body: Body, response: ServerResponse, request: IncomingMessage) => void = (_body, response) =>
    void response.writeHead(501).end();

  private constructor(
    private readonly server: Server,
    /** PEM of the CA that signed its certificate. */
    readonly ca: string,
  ) {}

  static async start<Body>(): Promise<HttpsJsonServer<Body>> {
    const pki = await makeEphemeralPki({ clock: systemClock });
    const { certificate: cert, key } = pki.serving!.current();
    const server = createServer({ cert, key });
    const started = new HttpsJsonServer<Body>(server, pki.authority.current().pem);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void started.receive(request, response);
    });
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return started;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  url(path: string): string {
    return `https://127.0.0.1:${this.port}${path}`;
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
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Body;
    this.bodies.push(body);
    this.answer(body, response, request);
  }
}
