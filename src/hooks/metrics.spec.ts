import { request as httpRequest } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { registryOf, shell } from '../../test/harness/shell.js';
import { RequestMetrics } from '../metrics/request-metrics.js';
import { ApiError } from '../machinery/api-error.js';
import type { Logger } from '../std/logger.js';
import { registerAccessLog } from './access-log.hook.js';
import { headersFor, sendBytes } from '../answers/answer.js';
import { registerMetrics } from './metrics.hook.js';

/** A real socket: only there answers end in all the ways they can. */
async function world() {
  const metrics = new RequestMetrics(registryOf([]));
  const lines: { message: string; fields: Record<string, unknown> | undefined }[] = [];
  const log = (message: string, fields?: Record<string, unknown>) => void lines.push({ message, fields });
  const logger: Logger = { debug: log, info: log, warn: log, error: log };
  const closed: (() => void)[] = [];
  const server = shell(
    (request, reply) => {
      reply.raw.once('close', () => closed.shift()?.());
      const { url } = request.raw;
      if (url === '/healthz/refused') throw ApiError.unauthorized();
      if (url === '/healthz')
        return sendBytes(request, reply, 200, headersFor(request, 'text/plain'), Buffer.from('ok'));
      reply.hijack();
      if (url === '/healthz/silent') return;
      reply.raw.writeHead(200);
      reply.raw.write('first');
    },
    (fastify) => {
      registerMetrics(fastify, metrics);
      registerAccessLog(fastify, { logger, slowMs: 10_000, logsAll: true });
    },
  );
  await server.listen({ port: 0, host: '127.0.0.1' });
  const { port } = server.server.address() as AddressInfo;
  const open = (path: string) => httpRequest({ port, host: '127.0.0.1', path, agent: false }).end();
  const nextClose = () => new Promise<void>((resolve) => closed.push(resolve));
  const codes = () => {
    const total = metrics.families().find(({ name }) => name === 'apiserver_request_total')!;
    return Object.fromEntries(Array.from(total.samples(), ({ labels, value }) => [labels['code'], value]));
  };
  return { server, open, nextClose, codes, lines };
}

it('counts responses, rejections, and clients that disconnect during or before the response', async () => {
  const { server, open, nextClose, codes, lines } = await world();
  try {
    for (const path of ['/healthz', '/healthz/refused']) {
      const closed = nextClose();
      const [response] = (await once(open(path), 'response')) as [NodeJS.ReadableStream];
      response.resume();
      await closed;
    }
    expect(codes()).toEqual({ 200: 1, 401: 1 });

    let closed = nextClose();
    const streaming = open('/healthz/stream');
    await once(streaming, 'response');
    streaming.destroy();
    await closed;
    expect(codes()).toEqual({ 200: 2, 401: 1 });

    closed = nextClose();
    const silent = open('/healthz/silent').on('error', () => undefined);
    await once(server.server, 'request');
    silent.destroy();
    await closed;
    expect(codes()).toEqual({ 0: 1, 200: 2, 401: 1 });
    expect(lines.map(({ message, fields }) => [message, fields!['code'], fields!['url']])).toEqual([
      ['request', 200, '/healthz'],
      ['request', 401, '/healthz/refused'],
      ['request', 200, '/healthz/stream'],
      ['request', 0, '/healthz/silent'],
    ]);
  } finally {
    await server.close();
  }
});
