import type { Socket } from 'node:net';
import type { Server } from 'node:tls';
import type { PortAccess } from './server-processes.js';

/** The port as a worker has it: another process listens, and passes connections on. */
export class PassedConnections implements PortAccess {
  private server: Server | undefined;

  constructor(
    private readonly port: number,
    /** Called when a connection that was passed on is closed. */
    readonly closed: () => void,
  ) {}

  listen(server: Server): Promise<number> {
    this.server = server;
    server.emit('listening');
    return Promise.resolve(this.port);
  }

  take(socket: Socket): void {
    socket.once('close', this.closed);
    if (this.server) this.server.emit('connection', socket);
    else socket.destroy();
  }

  close(): void {
    this.server = undefined;
  }
}
