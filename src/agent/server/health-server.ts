import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AgentDependencies } from '../agent-dependencies.js';

/** Serves /healthz over HTTP without credentials, for a supervisor on the same machine. Returns its URL. */
export async function startHealthServer({ options, undo, logger }: AgentDependencies): Promise<string> {
  const { healthzAddress, healthzPort } = options.serving;
  const server = createServer({ maxHeaderSize: 16_384, headersTimeout: 10_000, requestTimeout: 10_000 });
  server.maxConnections = 64;
  server.on('request', (request, response) => {
    const isHealth = /^\/healthz(\?|$)/.test(request.url ?? '');
    response.writeHead(isHealth ? 200 : 404, { 'Content-Type': 'text/plain; charset=utf-8' });
    response.end(isHealth ? 'ok' : '404 page not found\n');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(healthzPort, healthzAddress, resolve);
  });
  server.on('error', (error) => logger.error('the health port failed', { error }));
  undo.add(() => {
    server.close();
    server.closeAllConnections();
  });
  const { address, port, family } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
