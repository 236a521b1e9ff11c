import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A minimal Node HTTPS server for the same traffic, to compare with: it sends prepared bytes.
 *   PUT  /body/x   stores the request body        GET  /stream   stays open
 *   GET  /body/x   answers with it                PUT  /push     sends /body/event to all streams
 *   POST /body/x   reads the request, answers 201 with it
 * Arguments: certificate file, key file, port.
 */
const [certFile = '', keyFile = '', port = '0'] = process.argv.slice(2);
const bodies = new Map<string, Buffer>();
const streams = new Set<ServerResponse>();

const server = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (request, response) => {
  const path = request.url ?? '';
  if (request.method === 'GET' && path === '/stream') {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    streams.add(response);
    response.on('close', () => streams.delete(response));
    return;
  }
  if (request.method === 'GET') return answer(response, 200, bodies.get(path));
  read(request, (body) => {
    if (path === '/push') {
      const event = bodies.get('/body/event');
      for (const stream of streams) stream.write(event);
      answer(response, 200, body);
    } else if (request.method === 'PUT') {
      bodies.set(path, body);
      answer(response, 200, Buffer.alloc(0));
    } else answer(response, 201, bodies.get(path));
  });
});
// Connections are idle while the other server is measured.
server.keepAliveTimeout = 0;
server.listen(Number(port), '127.0.0.1', () =>
  process.stdout.write(`Serving https://127.0.0.1:${(server.address() as AddressInfo).port}\n`),
);

function read(request: IncomingMessage, done: (body: Buffer) => void): void {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => done(Buffer.concat(parts)));
}

function answer(response: ServerResponse, code: number, body: Buffer | undefined): void {
  if (body === undefined) return void response.writeHead(404).end();
  response.writeHead(code, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}
