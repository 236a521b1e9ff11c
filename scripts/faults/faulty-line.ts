import { once } from 'node:events';
import { createConnection, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * `open` passes bytes on. `cut` resets connections and refuses new ones. `up` and `down` let bytes pass in one direction
 * only, towards the upstream or from it, and `dead` in none: connections stay open and are silent, and held bytes arrive
 * when the line is open again, as TCP would repeat them.
 */
export type LineState = 'open' | 'cut' | 'up' | 'down' | 'dead';

interface Connection {
  readonly client: Socket;
  readonly upstream: Socket;
  readonly source: string;
}

interface LineOptions {
  readonly port?: number;
  readonly upstreamPort: number;
  /** Returns the name of the process that connects, for faults of some sources only. */
  readonly sourceOf?: (clientPort: number) => string;
}

const host = '127.0.0.1';

/** A TCP proxy on loopback whose connections can be cut, silenced in one or both directions, and delayed. */
export class FaultyLine {
  private readonly connections = new Set<Connection>();
  private state: LineState = 'open';
  private isAffected: (source: string) => boolean = () => true;
  private delayMs = 0;

  private constructor(
    private readonly server: Server,
    private readonly options: LineOptions,
  ) {
    server.on('connection', (client) => this.join(client));
  }

  static async start(options: LineOptions): Promise<FaultyLine> {
    const server = createServer({ pauseOnConnect: true }).listen(options.port ?? 0, host);
    await once(server, 'listening');
    return new FaultyLine(server, options);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Sets the state for connections of some sources; for those of the others the line is open. */
  set(state: LineState, isAffected: (source: string) => boolean = () => true): void {
    this.state = state;
    this.isAffected = isAffected;
    for (const connection of this.connections) this.apply(connection);
  }

  /** Delays the bytes of both directions from now on. */
  delay(ms: number): void {
    this.delayMs = ms;
  }

  async stop(): Promise<void> {
    this.set('cut');
    await new Promise((resolve) => this.server.close(resolve));
  }

  private join(client: Socket): void {
    const source = this.options.sourceOf?.(client.remotePort ?? 0) ?? '';
    if (this.stateOf(source) === 'cut') return void reset(client);
    const upstream = createConnection({ host, port: this.options.upstreamPort });
    const connection = { client, upstream, source };
    this.connections.add(connection);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.setNoDelay(true);
      from.on('data', (bytes: Buffer) => this.pass(from, to, bytes));
      from.on('drain', () => this.apply(connection));
      from.on('error', () => undefined);
      from.on('end', () => to.end());
      from.on('close', () => {
        this.connections.delete(connection);
        to.destroy();
      });
    }
    this.apply(connection);
  }

  private pass(from: Socket, to: Socket, bytes: Buffer): void {
    const send = () => {
      if (!to.destroyed && to.writable && !to.write(bytes)) from.pause();
    };
    if (this.delayMs > 0) setTimeout(send, this.delayMs);
    else send();
  }

  private apply(connection: Connection): void {
    const { client, upstream, source } = connection;
    const state = this.stateOf(source);
    if (state === 'cut') {
      reset(client);
      upstream.destroy();
      return;
    }
    if (state === 'open' || state === 'up') client.resume();
    else client.pause();
    if (state === 'open' || state === 'down') upstream.resume();
    else upstream.pause();
  }

  private stateOf(source: string): LineState {
    return this.isAffected(source) ? this.state : 'open';
  }
}

/** Resets a connection. Node would not close the handle of one that is ending, and then spins when the process exits. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
