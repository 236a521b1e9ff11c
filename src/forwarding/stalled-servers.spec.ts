import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import * as http from 'node:http';
import * as net from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../test/harness/eventually.js';
import { ManualClock } from '../std/clock.js';
import type { ForwardError } from './forward-error.js';
import type { ForwardTarget } from './forward-target.js';
import { forwardUpgrade, requestUpgrade } from './forward-upgrade.js';
import { requestAnswer } from './forward-request.js';
import { Upstreams } from './upstreams.js';

// Servers that stop at any step of a request.

const clock = new ManualClock();
const upstreams = new Upstreams({ clock });
const sockets = new Set<net.Socket>();
const closing: (() => void)[] = [() => upstreams.close()];
afterAll(() => closing.forEach((close) => close()));
afterEach(() => sockets.forEach((socket) => socket.destroy()));

/** A server that handles each connection by hand. */
async function rawServer(accept: (socket: net.Socket) => void): Promise<number> {
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    accept(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  return (server.address() as net.AddressInfo).port;
}

/** A port whose queue of connections is full, so that the kernel answers no more: its process is stopped. */
async function portThatNeverAccepts(): Promise<number> {
  const program = `const s = require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(s.address().port))`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  closing.push(() => child.kill('SIGKILL'));
  const port = Number(String((await once(child.stdout, 'data'))[0]));
  child.kill('SIGSTOP');
  for (let n = 0; n < 6; n++) {
    const socket = net.connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    sockets.add(socket);
    await Promise.race([once(socket, 'connect'), sleep(200)]);
  }
  return port;
}

const emptyBody = () => Object.assign(new http.IncomingMessage(new net.Socket()), { headers: {} });
const targetOf = (port: number, scheme: 'http' | 'https' = 'http'): ForwardTarget => ({
  scheme,
  host: '127.0.0.1',
  port,
  tls: { isInsecure: true },
});
/** Both kinds of requests; each rejects with ForwardError. */
const kinds = {
  request: (target: ForwardTarget, signal: AbortSignal) => {
    const request = emptyBody();
    const response = new http.ServerResponse(request);
    // A response without a socket does not emit it.
    signal.addEventListener('abort', () => response.emit('close'));
    const forwarded = { target, method: 'GET', path: '/', headers: ['Host', 'x'] };
    return requestAnswer(upstreams, { request, response }, forwarded).then(({ answer }) => answer.statusCode);
  },
  upgrade: (target: ForwardTarget, signal: AbortSignal) =>
    requestUpgrade(upstreams, { target, method: 'GET', path: '/', headers: ['Host', 'x'] }, { clock, signal }),
};
const never = () => new AbortController().signal;

describe.each(['request', 'upgrade'] as const)('%s', (kind) => {
  /** Advances the clock until the promise is settled. */
  async function timeUntilFailure(work: Promise<unknown>): Promise<{ error: ForwardError; seconds: number }> {
    let failure: unknown;
    work.then(
      () => (failure = new Error('it was answered')),
      (error: unknown) => (failure = error),
    );
    let seconds = 0;
    while (failure === undefined) {
      // Time for the events of the sockets.
      await sleep(25);
      clock.advance(1000);
      seconds++;
      if (seconds > 100) throw new Error('it has no limit');
      await sleep(0);
    }
    return { error: failure as ForwardError, seconds };
  }

  it('to a server that does not accept connections fails after 30 s', async () => {
    const port = await portThatNeverAccepts();
    const { error, seconds } = await timeUntilFailure(kinds[kind](targetOf(port), never()));
    expect([error.step, error.message]).toEqual(['dial', `dial tcp 127.0.0.1:${port}: i/o timeout`]);
    expect(seconds).toBe(30);
  });

  it('to a server that is silent in the TLS handshake fails after 10 s', async () => {
    const port = await rawServer((socket) => socket.resume());
    const { error, seconds } = await timeUntilFailure(kinds[kind](targetOf(port, 'https'), never()));
    expect([error.step, error.message]).toEqual(['dial', 'net/http: TLS handshake timeout']);
    expect(seconds).toBeLessThan(30);
  });

  it('to a server that sends no head waits until the client leaves, which closes the connection', async () => {
    let closed: Promise<unknown> | undefined;
    const port = await rawServer((socket) => {
      socket.resume();
      closed = once(socket, 'close');
    });
    const client = new AbortController();
    const work = kinds[kind](targetOf(port), client.signal);
    await eventually('the server is connected', () => closed !== undefined);
    clock.advance(3_600_000);
    client.abort();
    await expect(work).rejects.toMatchObject({ step: 'gone' });
    await closed;
  });

  const head = 'HTTP/1.1 200 OK\r\n';
  it.each<[string, string, string]>([
    ['headers', head, 'x-endless: 0123456789abcdef\r\n'],
    ['one header', `${head}x-endless: `, '0123456789abcdef'.repeat(16)],
    ['informational answers', '', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'],
    ['empty informational answers', '', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ])('to a server that sends %s without an end fails within their limit', async (_what, begin, repeated) => {
    let sent = 0;
    const port = await rawServer((socket) => {
      const part = repeated.repeat(Math.ceil(4096 / repeated.length));
      const write = () => {
        if (socket.destroyed) return;
        sent += part.length;
        if (socket.write(part)) setImmediate(write);
      };
      socket.once('data', () => socket.write(begin, write));
      socket.on('drain', write);
    });
    const error = (await kinds[kind](targetOf(port), never()).catch((failure: unknown) => failure)) as ForwardError;
    expect([error.step, error.message]).toEqual([
      'answer',
      'net/http: server response headers exceeded 131072 bytes; aborted',
    ]);
    expect(sent).toBeLessThan(16 * 1024 * 1024);
  });

  (existsSync('/proc/net/tcp') ? it : it.skip)('probes whether a silent server still exists', async () => {
    const port = await rawServer((socket) => socket.resume());
    const client = new AbortController();
    const work = kinds[kind](targetOf(port), client.signal).catch(() => undefined);
    const remote = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
    // The sixth field is the running timer: 02 is that of keep-alive probes.
    await eventually('the keep-alive timer runs', () =>
      readFileSync('/proc/net/tcp', 'latin1')
        .split('\n')
        .map((line) => line.trim().split(/\s+/))
        .some((fields) => fields[2] === remote && fields[5]?.startsWith('02:')),
    );
    client.abort();
    await work;
  });
});

it('a tunnel is closed at both ends after the idle time without a byte, and not before', async () => {
  let server: net.Socket | undefined;
  const port = await rawServer((socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
      server = socket;
    });
  });
  const request = emptyBody();
  const sent: Buffer[] = [];
  const client = new Duplex({
    read: () => undefined,
    write: (bytes: Buffer, _encoding, done) => {
      sent.push(bytes);
      done();
    },
  });
  const upgrading = forwardUpgrade(
    upstreams,
    {
      request,
      response: new http.ServerResponse(request),
      head: Buffer.alloc(0),
      begin: () => true,
      cut: () => undefined,
      sent: () => undefined,
      switchProtocols: () => client,
    },
    { target: targetOf(port), method: 'GET', path: '/', headers: ['Host', 'x'] },
    { clock, idleTimeoutMs: 60_000 },
  );
  for (const text of ['a', 'b', 'c']) {
    await eventually('the server has switched protocols', () => server !== undefined);
    server!.write(text);
    await eventually(`${text} arrives`, () => Buffer.concat(sent).toString().endsWith(text));
    clock.advance(59_000);
    client.push(text);
    await once(server!, 'data');
    clock.advance(59_000);
  }
  expect([client.destroyed, server!.destroyed]).toEqual([false, false]);
  const closed = once(server!, 'close');
  clock.advance(2_000);
  await upgrading;
  await closed;
  expect(client.destroyed).toBe(true);
});
