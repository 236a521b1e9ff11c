import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeEphemeralPki } from '../../src/certificates/ephemeral-pki.js';
import { systemClock } from '../../src/std/clock.js';

/** The bytes of an answer to a review with this uid. */
export type HostileReply = (uid: string) => Buffer | string;

/** An HTTPS server with admission webhooks that answer as the families say. */
export class HostileWebhook {
  private readonly replies = new Map<string, HostileReply>();

  private constructor(
    private readonly server: Server,
    private readonly caBundle: string,
  ) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.reply(request, response));
    server.on('tlsClientError', () => undefined);
  }

  static async start(): Promise<HostileWebhook> {
    const pki = await makeEphemeralPki({ clock: systemClock });
    const { certificate: cert, key } = pki.serving!.current();
    const server = createServer({ cert, key });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new HostileWebhook(server, Buffer.from(pki.authority.current().pem).toString('base64'));
  }

  /** Sets the answer of the webhook with a name, and returns its clientConfig. */
  on(name: string, reply: HostileReply): object {
    this.replies.set(`/${name}`, reply);
    const { port } = this.server.address() as AddressInfo;
    return { url: `https://127.0.0.1:${port}/${name}`, caBundle: this.caBundle };
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let start = '';
    try {
      // The uid is among the first fields of a review.
      for await (const chunk of request) if (start.length < 1_000) start += (chunk as Buffer).toString('latin1');
    } catch {
      return;
    }
    const uid = /"uid":"([^"]*)"/.exec(start)?.[1] ?? '';
    const reply = this.replies.get((request.url ?? '').replace(/\?.*$/, ''));
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(reply?.(uid));
  }
}
