import type { Duplex } from 'node:stream';
import type { Clock } from '../std/clock.js';
import { IdleTimer } from '../std/idle-timer.js';
import { upgradeToSpdy, type ConnectServer } from './spdy-upgrade.js';
import { isWebSocketRequest, requestedSubprotocols, type UpgradeRequest } from './upgrade-request.js';
import { acceptWebSocket } from './websocket/accept-websocket.js';
import { TunnelStream } from './websocket/tunnel-stream.js';

/** The subprotocol of a tunnel is this and the protocol inside: SPDY/3.1+portforward.k8s.io. */
const tunnelPrefix = 'SPDY/3.1+';
const isTunnelProtocol = (protocol: string): boolean =>
  protocol.startsWith(tunnelPrefix) && protocol.endsWith('.k8s.io');
/** Time to deliver what has arrived after the other side has left. */
const drainMsMax = 5_000;

/** True for a port-forward whose client speaks SPDY in the messages of a WebSocket. */
export const isTunnelRequest = (request: UpgradeRequest['request']): boolean =>
  isWebSocketRequest(request) && requestedSubprotocols(request).some(isTunnelProtocol);

interface TunnelOptions {
  readonly clock: Clock;
  readonly connect: ConnectServer;
  /** Aborted when the client leaves before it was answered. */
  readonly signal: AbortSignal;
  /** Time without a byte in either direction after which both connections are closed. */
  readonly idleTimeoutMs: number;
}

/**
 * Connects such a client with a server that speaks SPDY, whose bytes are passed on unread. Before anything was answered it
 * may throw the error of a connection that could not be made, and UpgradeRefusedError, whose answer the client gets.
 * Resolves when both connections have ended.
 */
export async function tunnelPortForward(
  upgrade: UpgradeRequest,
  { clock, connect, signal, idleTimeoutMs }: TunnelOptions,
): Promise<void> {
  const offered = requestedSubprotocols(upgrade.request).filter(isTunnelProtocol);
  const protocols = offered.map((protocol) => protocol.slice(tunnelPrefix.length));
  const { socket, protocol } = await upgradeToSpdy(connect, protocols, signal);
  const chosen = tunnelPrefix + protocol;
  const webSocket = await acceptWebSocket(upgrade, offered.includes(chosen) ? chosen : '');
  if (!webSocket) return void socket.destroy();
  await join(new TunnelStream(webSocket), socket, { clock, idleTimeoutMs });
}

/** Pipes both streams into each other until both have ended. */
async function join(
  client: TunnelStream,
  server: Duplex,
  { clock, idleTimeoutMs }: Pick<TunnelOptions, 'clock' | 'idleTimeoutMs'>,
): Promise<void> {
  const ended = [client, server].map((stream) => new Promise<void>((resolve) => stream.once('close', () => resolve())));
  const close = () => {
    client.destroy();
    server.destroy();
  };
  const endSoon = () => void clock.after(drainMsMax, close);
  const idle = new IdleTimer(clock, idleTimeoutMs, close);
  for (const side of [client, server]) side.on('data', () => idle.touch());
  client.once('left', endSoon);
  server.once('close', endSoon);
  client.on('error', () => server.destroy());
  server.on('error', () => client.destroy());
  client.pipe(server);
  server.pipe(client);
  await Promise.all(ended);
  idle.cancel();
}
