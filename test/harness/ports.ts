import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Below the ephemeral ports of the system, so that a restarted server finds its port free. */
const [lowest, highest] = [20_000, 32_000];

export async function freePorts(count: number): Promise<number[]> {
  const taken: Server[] = [];
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(lowest, highest);
    const server = createServer();
    const listening = once(server, 'listening');
    server.listen(port, '127.0.0.1');
    try {
      await listening;
    } catch {
      continue;
    }
    taken.push(server);
    ports.push(port);
  }
  await Promise.all(taken.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
