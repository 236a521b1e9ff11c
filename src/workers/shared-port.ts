import { createServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net';
import type { Server } from 'node:tls';
import type { PortAccess } from './server-processes.js';

/** A process that can take connections. */
export interface ConnectionTaker {
  readonly openConnections: number;
  take(socket: Socket): void;
}

interface Options {
  /** Open connections of this process. */
  readonly ownConnections: () => number;
  /** Returns the workers that are ready. */
  readonly workers: () => readonly ConnectionTaker[];
}

/** Interval of TCP keep-alive probes, as of a server of one process. */
const tcpKeepAliveMs = 180_000;

/**
 * Listens on the port of all processes. Each connection goes to the process with the fewest open ones: clients keep theirs
 * for hours, so that taking turns would leave the load uneven after one of the processes was replaced.
 */
export class SharedPort implements PortAccess {
  private readonly listener: TcpServer;
  private server: Server | undefined;

  constructor(private readonly options: Options) {
    // A paused connection is given away before any of its bytes is read.
    const settings = { pauseOnConnect: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: tcpKeepAliveMs };
    this.listener = createServer(settings, (socket) => this.connected(socket));
  }

  listen(server: Server, port: number, address: string): Promise<number> {
    this.server = server;
    return new Promise((resolve, reject) => {
      this.listener.once('error', reject);
      this.listener.listen(port, address, () => {
        this.listener.removeListener('error', reject);
        server.emit('listening');
        resolve((this.listener.address() as AddressInfo).port);
      });
    });
  }

  close(): void {
    if (this.listener.listening) this.listener.close();
  }

  private connected(socket: Socket): void {
    let least: ConnectionTaker | undefined;
    for (const worker of this.options.workers()) {
      if (!least || worker.openConnections < least.openConnections) least = worker;
    }
    // Of two equal ones the worker gets it, since this process has the store besides.
    if (least && least.openConnections <= this.options.ownConnections()) least.take(socket);
    else this.server!.emit('connection', socket);
  }
}
