import { connect, type ConnectionOptions } from 'node:tls';
import type { Clock, Timer } from '../std/clock.js';
import { WebhookConnection, type Exchange } from './webhook-connection.js';

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export interface PooledExchange extends Exchange {
  readonly endpoint: Endpoint;
  /** Called with the connection that carries the exchange, before the request is sent. */
  begun(connection: WebhookConnection): void;
}

/** Requests that wait for a webhook that is slow; more wait for one of these connections. */
const connectionsMax = 256;
/** More than most webhooks have calls at once: a connection that is opened anew costs as much as fifty calls. */
const idleConnectionsMax = 100;
/** Below the idle timeout of servers, 90 s, so that they rarely close a connection that is about to be used. */
const idleMsMax = 60_000;
/** The server counts from another moment on. */
const keepAliveMarginMs = 1_000;
const sweepMs = 5_000;

const keyOf = ({ host, port }: Endpoint): string => `${host} ${port}`;

/** Connections with one TLS identity to the endpoints of one webhook, which are kept open between exchanges. */
export class ConnectionPool {
  private readonly open = new Set<WebhookConnection>();
  /** By endpoint; the last one was used last. */
  private readonly idle = new Map<string, WebhookConnection[]>();
  private readonly waiting = new Set<PooledExchange>();
  private session: Buffer | undefined;
  private sweeping: Timer | undefined;
  private isClosed = false;

  constructor(
    private readonly tls: ConnectionOptions,
    private readonly clock: Clock,
  ) {}

  /** Sends the request on an idle connection, on another one, or later if there are too many. */
  begin(exchange: PooledExchange): void {
    let connection: WebhookConnection | undefined;
    try {
      connection = this.takeIdle(keyOf(exchange.endpoint)) ?? this.connect(exchange.endpoint);
    } catch (error) {
      // Node refuses some endpoints at once, such as port 70000.
      return exchange.failed(error as Error, false);
    }
    if (!connection) {
      this.waiting.add(exchange);
      return;
    }
    exchange.begun(connection);
    connection.send(exchange);
  }

  /** Removes an exchange that waits for a connection. */
  abandon(exchange: PooledExchange): void {
    this.waiting.delete(exchange);
  }

  /** Closes idle connections; others close after their response. */
  close(): void {
    this.isClosed = true;
    this.sweeping?.cancel();
    this.sweeping = undefined;
    for (const connections of this.idle.values()) for (const connection of connections) connection.destroy();
    this.idle.clear();
  }

  freed(connection: WebhookConnection, keepAliveMs = Infinity): void {
    const leftMs = Math.min(idleMsMax, keepAliveMs - keepAliveMarginMs);
    const connections = this.idle.get(connection.address) ?? [];
    if (this.isClosed || leftMs <= 0 || connections.length >= idleConnectionsMax) return connection.destroy();
    connection.idleUntilMs = this.clock.monotonicMs() + leftMs;
    if (connections.push(connection) === 1) this.idle.set(connection.address, connections);
    this.sweeping ??= this.clock.after(sweepMs, () => this.sweep());
    this.beginNext();
  }

  closed(connection: WebhookConnection, error: Error | undefined): void {
    this.open.delete(connection);
    // A session that the server does not accept any more must not be offered again.
    if (error) this.session = undefined;
    const connections = this.idle.get(connection.address);
    const index = connections?.indexOf(connection) ?? -1;
    if (connections && index >= 0) this.setIdle(connection.address, connections.toSpliced(index, 1));
    this.beginNext();
  }

  private takeIdle(key: string): WebhookConnection | undefined {
    const connections = this.idle.get(key);
    const connection = connections?.pop();
    if (connections?.length === 0) this.idle.delete(key);
    // The ones before it were used earlier, but their servers may keep them longer: sweep() closes them.
    if (!connection || connection.idleUntilMs > this.clock.monotonicMs()) return connection;
    connection.destroy();
    return this.takeIdle(key);
  }

  private connect({ host, port }: Endpoint): WebhookConnection | undefined {
    if (this.open.size >= connectionsMax && !this.closeIdle()) return undefined;
    const { session } = this;
    const socket = connect({ ...this.tls, host, port, ALPNProtocols: ['http/1.1'], ...(session && { session }) });
    socket.on('session', (ticket: Buffer) => (this.session = ticket));
    const connection = new WebhookConnection(keyOf({ host, port }), socket, this);
    this.open.add(connection);
    return connection;
  }

  /** Closes a connection to another endpoint, so that one can be opened. */
  private closeIdle(): boolean {
    for (const [key, [first, ...others]] of this.idle) {
      this.setIdle(key, others);
      if (!first) continue;
      this.open.delete(first);
      first.destroy();
      return true;
    }
    return false;
  }

  private beginNext(): void {
    const [next] = this.waiting;
    if (!next) return;
    this.waiting.delete(next);
    this.begin(next);
  }

  private setIdle(key: string, connections: WebhookConnection[]): void {
    if (connections.length === 0) this.idle.delete(key);
    else this.idle.set(key, connections);
  }

  private sweep(): void {
    this.sweeping = undefined;
    const nowMs = this.clock.monotonicMs();
    for (const [key, connections] of this.idle) {
      const kept = connections.filter((connection) => connection.idleUntilMs > nowMs);
      if (kept.length === connections.length) continue;
      this.setIdle(key, kept);
      for (const connection of connections) if (!kept.includes(connection)) connection.destroy();
    }
    if (this.idle.size > 0) this.sweeping = this.clock.after(sweepMs, () => this.sweep());
  }
}
