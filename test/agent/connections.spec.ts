import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import * as http2 from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { Limits } from '../../src/config/limits.js';
import { startTestAgent, type TestAgent } from '../harness/agents.js';
import { eventually } from '../harness/eventually.js';

// The limits of docs/agent.md with small numbers, over real sockets.
const counts = { agentConnectionsMax: 8, agentConnectionsPerAddressMax: 5 };
const times = {
  tlsHandshakeTimeoutMs: 1_000,
  headersTimeoutMs: 1_000,
  idleConnectionTimeoutMs: 1_500,
  http2SilenceMsMax: 800,
  http2PingTimeoutMs: 400,
  unreadBodyTimeoutMs: 500,
};
/** Longer than a busy machine stops a process: clients that go on reading are in the process of the agent. */
const stall = { watchWriteStallTimeoutMs: 3_000 };
const directory = mkdtempSync(join(tmpdir(), 'keelson-agent-limits-'));
const logDirectory = join(directory, 'log');
const logFile = join(logDirectory, 'large.log');
const fileBytes = 16 * 1024 * 1024;
/** Pauses of a slow reader: together they are longer than an unread answer may take. */
const pauseBytes = 1024 * 1024;
const pauseMs = 250;
const refusals: unknown[] = [];
let agent: TestAgent;
const sockets: Socket[] = [];

beforeAll(() => {
  mkdirSync(logDirectory);
  writeFileSync(logFile, Buffer.alloc(fileBytes, 'line of a log\n'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The tests of a block have an agent with these limits; the others are those of the configuration. */
function withLimits(limits: Partial<Limits>): void {
  beforeAll(() => startAgentWith(limits));
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await eventually('the agent has room for connections again', () => answers('127.0.0.1'));
  });
  afterAll(() => agent.stop());
}

async function startAgentWith(limits: Partial<Limits>): Promise<void> {
  const log = () => undefined;
  const warn = (message: string, fields: unknown) => {
    if (message === 'connections are refused') refusals.push(fields);
  };
  const logger = { debug: log, info: log, warn, error: log };
  agent = await startTestAgent(
    ['--address=0.0.0.0', '--container-runtime-endpoint=none', `--log-dir=${logDirectory}`],
    { limits, logger },
  );
}

const address = (localAddress: string) => ({ host: '127.0.0.1', port: Number(new URL(agent.url).port), localAddress });

function kept<S extends Socket>(socket: S): S {
  sockets.push(socket);
  socket.on('error', () => undefined);
  return socket;
}

/** Opens a TLS connection from an address of the loopback interface. */
async function open(localAddress: string, ALPNProtocols = ['http/1.1']): Promise<TLSSocket> {
  const socket = kept(connectTls({ ...address(localAddress), rejectUnauthorized: false, ALPNProtocols }));
  await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')]).catch(() => undefined);
  return socket;
}

/** True if a new connection from the address is served. */
async function answers(localAddress: string): Promise<boolean> {
  const socket = await open(localAddress);
  socket.write('GET /healthz HTTP/1.1\r\nHost: n\r\nConnection: close\r\n\r\n');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  if (!socket.destroyed) await once(socket, 'close');
  return text.startsWith('HTTP/1.1 200');
}

/** Descriptors of this process, in which the agent runs, for the log file. */
function openLogFiles(): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === logFile;
    } catch {
      return false;
    }
  }).length;
}

const isClosed = async (socket: Socket) => {
  socket.resume();
  if (!socket.destroyed) await once(socket, 'close');
  return true;
};

describe('limits on the number of connections', () => {
  withLimits(counts);
  it('connections beyond those of one address are closed, and those of other addresses are served', async () => {
    const held = kept(connectTcp(address('127.0.0.2')));
    await once(held, 'connect');
    const own = await Promise.all(Array.from({ length: 4 }, () => open('127.0.0.2')));
    expect(await answers('127.0.0.2')).toBe(false);
    expect(await answers('127.0.0.3')).toBe(true);
    expect(refusals).toContainEqual({ address: '127.0.0.2', reason: '5 of this address are open' });
    own[0]!.destroy();
    await eventually('a closed connection makes room for another', () => answers('127.0.0.2'));
  });

  it('connections beyond those of all addresses are closed', async () => {
    for (const host of ['127.0.0.4', '127.0.0.5', '127.0.0.6', '127.0.0.7'])
      await Promise.all([open(host), open(host)]);
    expect(await answers('127.0.0.8')).toBe(false);
  });
});

describe('limits on the time of a silent connection', () => {
  withLimits(times);
  it.each([
    ['a TLS handshake', () => Promise.resolve(kept(connectTcp(address('127.0.0.1'))))],
    ['a request on a new connection', () => open('127.0.0.1')],
    ['an HTTP/2 preface', () => open('127.0.0.1', ['h2'])],
    [
      'the rest of the head of a request',
      async () => {
        const socket = await open('127.0.0.1');
        socket.write('GET /healthz HTTP/1.1\r\nHost:');
        return socket;
      },
    ],
    [
      'the rest of a body that nobody reads',
      async () => {
        const socket = await open('127.0.0.1');
        socket.write('POST /healthz HTTP/1.1\r\nHost: n\r\nContent-Length: 100\r\n\r\nbody');
        return socket;
      },
    ],
    [
      'the next request',
      async () => {
        const socket = await open('127.0.0.1');
        socket.write('GET /healthz HTTP/1.1\r\nHost: n\r\n\r\n');
        return socket;
      },
    ],
  ])('a connection that waits for %s ends', async (_what, start) => {
    expect(await isClosed(await start())).toBe(true);
  });

  it('an idle HTTP/2 session ends', async () => {
    const session = http2.connect(agent.url.replace('0.0.0.0', '127.0.0.1'), { rejectUnauthorized: false });
    await once(session, 'close');
  });
});

describe('limits on the time of an unread answer', () => {
  withLimits(stall);
  it('an answer over HTTP/1.1 that the client does not read is cut, and its file is closed', async () => {
    const socket = await open('127.0.0.1');
    socket.pause();
    socket.write('GET /logs/large.log HTTP/1.1\r\nHost: n\r\n\r\n');
    await eventually('the file is open', () => openLogFiles() === 1);
    await eventually('the file is closed', () => openLogFiles() === 0);
  });

  it('an answer over HTTP/2 that the client does not read is cut, while its session serves others', async () => {
    const session = http2.connect(agent.url.replace('0.0.0.0', '127.0.0.1'), { rejectUnauthorized: false });
    const stalled = session.request({ ':path': '/logs/large.log' });
    stalled.on('error', () => undefined);
    await once(stalled, 'response');
    expect(openLogFiles()).toBe(1);
    await eventually('the file is closed', async () => {
      const other = session.request({ ':path': '/healthz' });
      const [{ ':status': status }] = (await once(other, 'response')) as [http2.IncomingHttpHeaders];
      other.close();
      expect(status).toBe(200);
      return openLogFiles() === 0;
    });
    session.destroy();
  });

  it('a slow reader gets the whole answer', async () => {
    const socket = await open('127.0.0.1');
    socket.write('GET /logs/large.log HTTP/1.1\r\nHost: n\r\nConnection: close\r\n\r\n');
    let received = 0;
    socket.on('data', (chunk: Buffer) => {
      const hasPause =
        Math.floor((received += chunk.length) / pauseBytes) > Math.floor((received - chunk.length) / pauseBytes);
      if (!hasPause) return;
      socket.pause();
      setTimeout(() => socket.resume(), pauseMs);
    });
    await once(socket, 'close');
    expect(received).toBeGreaterThan(fileBytes);
  });
});
