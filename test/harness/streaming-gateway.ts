import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { requestUpgrade } from '../../src/forwarding/forward-upgrade.js';
import type { ForwardTarget } from '../../src/forwarding/forward-target.js';
import { Upstreams } from '../../src/forwarding/upstreams.js';
import type { ConnectServer } from '../../src/remote-streams/spdy-upgrade.js';
import { isTranslatedCommand, translateCommand } from '../../src/remote-streams/translate-command.js';
import { isTunnelRequest, tunnelPortForward } from '../../src/remote-streams/tunnel-port-forward.js';
import { systemClock as clock } from '../../src/std/clock.js';

const idleTimeoutMs = 600_000;

/** Translates WebSockets of commands and of port-forward to a server that speaks SPDY, as the API server does. */
export class StreamingGateway {
  /** Connections to clients that are open. */
  readonly sockets = new Set<Duplex>();
  private readonly upstreams = new Upstreams({ clock });
  private readonly server: Server;

  private constructor(private readonly target: ForwardTarget) {
    this.server = createServer((_request, response) => response.writeHead(404).end());
    this.server.on('upgrade', (request, socket, head) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
      socket.on('error', () => undefined);
      this.serve(request, socket, head).catch((error: Error & { code?: number }) =>
        socket.end(`HTTP/1.1 ${error.code ?? 500} Refused\r\nConnection: close\r\n\r\n${error.message}`),
      );
    });
  }

  static async start(target: ForwardTarget): Promise<StreamingGateway> {
    const gateway = new StreamingGateway(target);
    gateway.server.listen(0, '127.0.0.1');
    await once(gateway.server, 'listening');
    return gateway;
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    this.upstreams.close();
  }

  private async serve(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const upgrade = { request, head, take: () => (socket.destroyed ? undefined : socket) };
    const connect: ConnectServer = (headers, signal) =>
      requestUpgrade(
        this.upstreams,
        {
          target: this.target,
          method: 'POST',
          path: request.url ?? '',
          headers: [
            'Host',
            'kubelet',
            ...Object.entries(headers).flatMap(([name, value]) =>
              typeof value === 'string' ? [name, value] : value.flatMap((one) => [name, one]),
            ),
          ],
        },
        { clock, signal },
      );
    const query = new URL(request.url ?? '', 'http://x').searchParams;
    const is = (name: string) => ['1', 'true'].includes(query.get(name) ?? '');
    if (isTranslatedCommand(request)) {
      const streams = { stdin: is('input'), stdout: is('output'), stderr: is('error'), tty: is('tty') };
      return translateCommand(upgrade, { clock, streams, connect, idleTimeoutMs });
    }
    if (!isTunnelRequest(request)) throw new Error('not translated');
    const gone = new AbortController();
    socket.once('close', () => gone.abort());
    return tunnelPortForward(upgrade, { clock, connect, signal: gone.signal, idleTimeoutMs });
  }
}
