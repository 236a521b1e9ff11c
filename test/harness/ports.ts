import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * Below the ephemeral ports of the system, so that a restarted server finds its port free. Each of jest's workers has a
 * range of its own, since a port is bound only after it was chosen.
 */
const portsOfWorker = 1_500;
const lowest = 20_000 + ((Number(process.env['JEST_WORKER_ID'] ?? 8) - 1) % 8) * portsOfWorker;

export async function freePorts(count: number): Promise<number[]> {
  const taken: Server[] = [];
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(lowest, lowest + portsOfWorker);
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
