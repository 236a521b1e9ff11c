// A server with the streaming endpoints of a kubelet before 1.36 and its container runtime: SPDY, and WebSocket without v5.
// Commands run on this machine. usage: node kubelet-process.mjs. Reads {"tls": {"cert", "key"}} from the first line of
// stdin, prints {"port"}, and answers each further line with {"processes", "sockets", "requests"}.
import { createServer as createPlain } from 'node:http';
import { createServer } from 'node:https';
import { createInterface } from 'node:readline';
import { refuse } from './handshake.mjs';
import { runningProcesses } from './local-process.mjs';
import { serveLocally } from './local-streams.mjs';

const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const sockets = new Set();
const requests = [];

function upgrade(request, socket, head) {
  socket.on('error', () => undefined);
  const { pathname, searchParams } = new URL(request.url, 'http://kubelet');
  requests.push({
    path: pathname,
    upgrade: request.headers.upgrade,
    protocols: request.headers['sec-websocket-protocol'] ?? request.headers['x-stream-protocol-version'],
  });
  const [kind] = pathname.slice(1).split('/');
  const is = (...names) => names.some((name) => ['1', 'true'].includes(searchParams.get(name)));
  const streams = {
    stdin: is('input', 'stdin'),
    stdout: is('output', 'stdout'),
    stderr: is('error', 'stderr') && !is('tty'),
    tty: is('tty'),
  };
  const command = searchParams.getAll('command');
  if (/\/refused(\/|$)/.test(pathname)) return refuse(socket, 404, 'pod does not exist');
  const ports = searchParams.getAll('port').flatMap((one) => one.split(',').map(Number));
  if (kind === 'exec' && command.length === 0) return refuse(socket, 404, 'not found');
  return serveLocally({ kind: kind.toLowerCase(), command, streams, ports }, { request, socket, head });
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { tls } = JSON.parse((await lines.next()).value);
const server = tls ? createServer(tls) : createPlain();
server.on('connection', (socket) => {
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
});
server.on('upgrade', (request, socket, head) => void upgrade(request, socket, head));
server.on('request', (request, response) => response.writeHead(400).end('unable to upgrade'));
server.listen(0, '127.0.0.1', () => print({ port: server.address().port }));
for await (const _line of lines) {
  const { rss } = process.memoryUsage();
  print({ processes: runningProcesses(), sockets: sockets.size, requests: requests.splice(0), rss });
}
process.exit(0);
