import { once } from 'node:events';
import { createConnection, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A proxy between a store and etcd on loopback, to cut the connection while etcd runs. */
export class EtcdProxy {
  private readonly sockets = new Set<Socket>();
  private isCut = false;
  /**
   * Called for each answer of etcd: if it returns true, the answer is lost and the connection cut, after the request
   * took effect.
   */
  losesAnswer: () => boolean = () => false;
  /** Number of lost answers. */
  lost = 0;

  private constructor(
    private readonly server: Server,
    private readonly upstream: URL,
  ) {
    server.on('connection', (socket) => this.join(socket));
  }

  static async start(upstream: string): Promise<EtcdProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new EtcdProxy(server, new URL(upstream));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.destroy();
  }

  heal(): void {
    this.isCut = false;
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private join(client: Socket): void {
    if (this.isCut) return void client.destroy();
    const server = createConnection({ host: this.upstream.hostname, port: Number(this.upstream.port) });
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(from);
      if (from === client) from.pipe(to);
      from.on('error', () => undefined);
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
    }
    server.on('data', (bytes: Buffer) => {
      if (this.losesAnswer()) {
        this.lost++;
        client.destroy();
      } else if (!client.write(bytes)) {
        server.pause();
        client.once('drain', () => server.resume());
      }
    });
    server.on('end', () => client.end());
  }
}
