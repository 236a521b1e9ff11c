import { once } from 'node:events';
import { setImmediate as nextImmediate } from 'node:timers/promises';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { eventually } from '../../test/harness/eventually.js';
import { webhookCertificate } from '../../test/harness/webhook-certificate.js';
import { makeEphemeralPki } from '../certificates/ephemeral-pki.js';
import { Canceller } from '../std/cancellation.js';
import { ManualClock, systemClock } from '../std/clock.js';
import { HostCredentials } from './host-credentials.js';
import type { ServiceAddresses } from './service-addresses.js';
import { WebhookClient } from './webhook-client.js';

/** The client with a TLS server that sends prepared bytes. */
interface Call {
  readonly socket: TLSSocket;
  readonly head: string;
  readonly body: string;
}

let server: Server;
let caBundle: string;
let clock: ManualClock;
let client: WebhookClient;
let answer: (call: Call) => void;
/** Called with the first bytes of a connection. */
let atFirst: ((socket: TLSSocket) => void) | undefined;
const sockets: TLSSocket[] = [];
const calls: Call[] = [];
const withBody = (body: string, more = '') => `HTTP/1.1 200 OK\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`;

beforeAll(async () => {
  const pki = await makeEphemeralPki({ clock: systemClock });
  const { certificate: cert, key } = pki.serving!.current();
  caBundle = Buffer.from(pki.authority.current().pem).toString('base64');
  server = createServer({ cert, key, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    sockets.push(socket);
    let text = '';
    socket.on('error', () => undefined);
    socket.once('data', () => atFirst?.(socket));
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
      const [head, body = ''] = text.split('\r\n\r\n', 2) as [string, string?];
      if (body.length < Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Infinity)) return;
      text = '';
      calls.push({ socket, head, body });
      answer({ socket, head, body });
    });
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

beforeEach(() => {
  clock = new ManualClock();
  client = new WebhookClient(
    { url: `https://127.0.0.1:${port()}/hook`, caBundle },
    {
      // The address is a URL.
      services: undefined as unknown as ServiceAddresses,
      credentials: new HostCredentials(undefined, clock),
      clock,
      answerBytesMax: 1_000_000,
      refusedCertificate: () => undefined,
    },
  );
});

afterEach(() => {
  client.close();
  for (const socket of sockets.splice(0)) socket.destroy();
  calls.splice(0);
  atFirst = undefined;
});

afterAll(async () => {
  server.close();
  await once(server, 'close');
});

const port = () => (server.address() as AddressInfo).port;
const post = async (body = '{}', signal?: Canceller) =>
  (await client.post(body, { timeoutSeconds: 10, signal })).toString();

it('a request has the length of its body in bytes, and speaks HTTP/1.1', async () => {
  answer = ({ socket }) => socket.write(withBody('yes'));
  expect(await post('"é"')).toBe('yes');
  expect(calls[0]!.head.split('\r\n')).toEqual([
    'POST /hook?timeout=10s HTTP/1.1',
    `Host: 127.0.0.1:${port()}`,
    'Accept: application/json, */*',
    'Content-Type: application/json',
    'User-Agent: kube-apiserver-admission',
    'Content-Length: 4',
  ]);
  expect(calls[0]!.socket.alpnProtocol).toBe('http/1.1');
});

it('a body that is bytes follows its head', async () => {
  answer = ({ socket, body }) => socket.write(withBody(String(body.length)));
  const body = Buffer.alloc(300_000, 'x');
  expect((await client.post(body, { timeoutSeconds: 10, signal: undefined })).toString()).toBe('300000');
});

it('calls that follow each other share a connection, concurrent ones do not', async () => {
  answer = ({ socket }) => socket.write(withBody('yes'));
  for (let count = 0; count < 20; count++) {
    await post();
    // Begins the next call in another phase of the event loop.
    if (count > 10) await nextImmediate();
  }
  expect(sockets).toHaveLength(1);
  const together = () => Promise.all(Array.from({ length: 32 }, () => post()));
  await together();
  expect(sockets).toHaveLength(32);
  await together();
  expect(sockets).toHaveLength(32);
});

it('a call on an idle connection that the server closes unread is repeated on another one', async () => {
  answer = ({ socket }) => socket.write(withBody('yes'));
  await post();
  answer = ({ socket }) => void (sockets.length === 1 ? socket.destroy() : socket.write(withBody('again')));
  expect(await post()).toBe('again');
  expect(sockets).toHaveLength(2);
});

it('a call on a new connection that is closed without an answer fails with EOF', async () => {
  answer = ({ socket }) => socket.destroy();
  await expect(post()).rejects.toMatchObject({
    message: expect.stringContaining('/hook?timeout=10s": EOF'),
    code: 503,
  });
  expect(calls).toHaveLength(1);
});

it('a connection whose response ends early or is followed by bytes is not used again', async () => {
  answer = ({ socket }) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}');
  await expect(post()).rejects.toThrow('EOF');
  answer = ({ socket }) => socket.write(`${withBody('yes')}HTTP/1.1 200 OK\r\n`);
  await post();
  answer = ({ socket }) => socket.write(withBody('third'));
  expect(await post()).toBe('third');
  expect(sockets).toHaveLength(3);
});

it('a connection whose server answers without reading a long request is not used again', async () => {
  atFirst = (socket) => {
    socket.pause();
    socket.write(withBody('too long'));
  };
  expect(await post('x'.repeat(20_000_000))).toBe('too long');
  atFirst = undefined;
  answer = ({ socket }) => socket.write(withBody('yes'));
  expect(await post()).toBe('yes');
  expect(sockets).toHaveLength(2);
});

it('bytes on an idle connection are not taken for the answer of the next call', async () => {
  answer = ({ socket }) => socket.write(withBody('yes'));
  await post();
  const closed = once(sockets[0]!, 'close');
  sockets[0]!.write(withBody('forged'));
  await closed;
  expect(await post()).toBe('yes');
});

it.each<[string, string, string]>([
  ['no HTTP', '220 mail.example ESMTP\r\n', 'malformed HTTP response'],
  ['an error', 'HTTP/1.1 500 x\r\nContent-Length: 6\r\n\r\nsecret', 'an error on the server ("unknown")'],
  ['a redirect', 'HTTP/1.1 302 x\r\nLocation: https://other\r\n\r\n', 'the status code 302'],
  ['a large body', `HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(10_000_000)}`, 'the answer is too large'],
])('a call fails if the webhook answers with %s', async (_title, bytes, message) => {
  answer = ({ socket }) => socket.write(bytes);
  await expect(post()).rejects.toThrow(message);
  await eventually('the connection is closed', () => sockets[0]!.destroyed);
});

it('a call ends when its time is over, and closes its connection', async () => {
  answer = () => undefined;
  const failed = expect(post()).rejects.toMatchObject({
    message: expect.stringContaining('context deadline exceeded'),
    code: 504,
  });
  await eventually('the webhook has the request', () => calls.length === 1);
  clock.advance(10_000);
  await failed;
  await eventually('the connection is closed', () => sockets[0]!.destroyed);
  expect(clock.pendingTimers).toBe(0);
});

it('a call that is cancelled rejects with the reason, before and after it was sent', async () => {
  answer = () => undefined;
  const reason = new Error('the client has gone');
  const canceller = new Canceller();
  const failed = expect(post('{}', canceller)).rejects.toBe(reason);
  await eventually('the webhook has the request', () => calls.length === 1);
  canceller.cancel(reason);
  await failed;
  await expect(post('{}', canceller)).rejects.toBe(reason);
  expect(calls).toHaveLength(1);
});

it('calls beyond the limit on connections wait for one, or until they are cancelled', async () => {
  const held: TLSSocket[] = [];
  answer = ({ socket }) => void held.push(socket);
  const first = Array.from({ length: 256 }, () => post());
  const canceller = new Canceller();
  const cancelled = post('{}', canceller);
  const last = post('last');
  await eventually('all connections are open', () => held.length === 256);
  canceller.cancel(new Error('gone'));
  await expect(cancelled).rejects.toThrow('gone');
  answer = ({ socket, body }) => socket.write(withBody(body));
  for (const socket of held) socket.write(withBody('first'));
  expect(await last).toBe('last');
  expect(new Set(await Promise.all(first))).toEqual(new Set(['first']));
  expect(sockets).toHaveLength(256);
});

it('idle connections are closed after a minute, or before the server closes them', async () => {
  answer = ({ socket }) => socket.write(withBody('yes'));
  await post();
  clock.advance(59_000);
  expect(sockets[0]!.destroyed).toBe(false);
  clock.advance(6_000);
  await eventually('the connection is closed', () => sockets[0]!.destroyed);
  answer = ({ socket }) => socket.write(withBody('yes', 'Keep-Alive: timeout=5\r\n'));
  await post();
  clock.advance(4_500);
  await post();
  expect(sockets).toHaveLength(3);
});

it('a webhook whose certificate is of another CA gets no request', async () => {
  const { ca } = await webhookCertificate({ hash: 'SHA-256', names: [] });
  const other = new WebhookClient(
    { url: `https://127.0.0.1:${port()}/hook`, caBundle: Buffer.from(ca).toString('base64') },
    {
      services: undefined as unknown as ServiceAddresses,
      credentials: new HostCredentials(undefined, clock),
      clock,
      answerBytesMax: 1000,
      refusedCertificate: () => undefined,
    },
  );
  const call = other.post('{}', { timeoutSeconds: 10, signal: undefined });
  await expect(call).rejects.toThrow('certificate signed by unknown authority');
  expect(calls).toHaveLength(0);
});
