import { once } from 'node:events';
import { createConnection, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { request } from 'node:https';

interface Backend {
  readonly host: string;
  readonly port: number;
}

interface BalancerOptions {
  readonly backends: readonly Backend[];
  /** CA of the servers, for their health checks. */
  readonly ca: string;
  readonly checkPath: string;
  readonly checkIntervalMs: number;
}

/** Passes TCP connections to the ready server with the fewest, as the load balancer of packaging/compose does. */
export class TcpBalancer {
  private readonly connections = new Map<Backend, Set<Socket>>();
  private readonly ready = new Set<Backend>();
  private readonly timer: NodeJS.Timeout;

  private constructor(
    private readonly server: Server,
    private readonly options: BalancerOptions,
  ) {
    for (const backend of options.backends) this.connections.set(backend, new Set());
    server.on('connection', (socket) => this.pass(socket));
    this.timer = setInterval(() => this.checkAll(), options.checkIntervalMs);
  }

  static async start(options: BalancerOptions): Promise<TcpBalancer> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TcpBalancer(server, options);
  }

  get url(): string {
    return `https://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Ports of the servers that passed their last check. */
  get readyPorts(): number[] {
    return [...this.ready].map(({ port }) => port).sort();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    for (const sockets of this.connections.values()) for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private pass(client: Socket): void {
    const count = (backend: Backend) => this.connections.get(backend)!.size;
    const [backend] = [...this.ready].sort((one, other) => count(one) - count(other));
    client.on('error', () => undefined);
    if (backend === undefined) return void client.destroy();
    const server = createConnection(backend);
    server.on('error', () => undefined);
    const sockets = this.connections.get(backend)!;
    sockets.add(client);
    client.pipe(server).pipe(client);
    client.once('close', () => {
      sockets.delete(client);
      server.destroy();
    });
    server.once('close', () => client.destroy());
  }

  private checkAll(): void {
    for (const backend of this.options.backends) {
      this.check(backend).then(
        (isReady) => (isReady ? this.ready.add(backend) : this.ready.delete(backend)),
        () => this.ready.delete(backend),
      );
    }
  }

  private check({ host, port }: Backend): Promise<boolean> {
    const { ca, checkPath, checkIntervalMs } = this.options;
    return new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(checkIntervalMs * 20);
      const asked = request({ host, port, path: checkPath, ca, agent: false, signal }, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      });
      asked.on('error', reject);
      asked.end();
    });
  }
}
