import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Returns both ends of a TCP connection. */
export async function socketPair(): Promise<readonly [Socket, Socket]> {
  const listener = createServer({ allowHalfOpen: true });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const accepted = once(listener, 'connection') as Promise<[Socket]>;
  const client = connect({ port: (listener.address() as AddressInfo).port, host: '127.0.0.1' });
  const [[server]] = await Promise.all([accepted, once(client, 'connect')]);
  listener.close();
  return [client, server];
}
