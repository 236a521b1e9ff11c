import type { DropArgument, Server, Socket } from 'node:net';
import type { Clock } from '../../std/clock.js';
import type { Logger } from '../../std/logger.js';

interface ConnectionCaps {
  readonly connectionsMax: number;
  /** Less than `connectionsMax`, so that one client does not take the connections of the API server. */
  readonly connectionsPerAddressMax: number;
}

/** Refused connections are logged at most this often. */
const logMs = 60_000;

/** Closes connections beyond the caps before their TLS handshake. */
export function capConnections(
  front: Server,
  { connectionsMax, connectionsPerAddressMax }: ConnectionCaps,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): void {
  const open = new Map<string, number>();
  let loggedMs = -Infinity;
  const refused = (address: string | undefined, reason: string) => {
    const nowMs = clock.monotonicMs();
    if (nowMs - loggedMs < logMs) return;
    loggedMs = nowMs;
    logger.warn('connections are refused', { address, reason });
  };
  front.maxConnections = connectionsMax;
  front.on('drop', (dropped?: DropArgument) => refused(dropped?.remoteAddress, `${connectionsMax} are open`));
  front.on('connection', (socket: Socket) => {
    // Undefined if the client has already left.
    const address = socket.remoteAddress;
    if (address === undefined) return void socket.destroy();
    const count = (open.get(address) ?? 0) + 1;
    if (count > connectionsPerAddressMax) {
      refused(address, `${connectionsPerAddressMax} of this address are open`);
      return void socket.destroy();
    }
    open.set(address, count);
    socket.once('close', () => {
      const left = open.get(address)! - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  });
}
