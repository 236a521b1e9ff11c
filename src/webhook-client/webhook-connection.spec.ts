import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type TLSSocket } from 'node:tls';
import { eventually } from '../../test/harness/eventually.js';
import { makeEphemeralPki } from '../certificates/ephemeral-pki.js';
import { systemClock } from '../std/clock.js';
import { WebhookConnection } from './webhook-connection.js';

/** The answer, or the error of an exchange and whether another connection may carry it. */
type Ended = { readonly body: string } | { readonly error: Error; readonly isStale: boolean };

let server: Server;
let socket: TLSSocket;
let connection: WebhookConnection;
let received = '';
const owner = { freed: () => undefined, closed: () => undefined };

beforeAll(async () => {
  const { certificate: cert, key } = (await makeEphemeralPki({ clock: systemClock })).serving!.current();
  server = createServer({ cert, key }, (accepted) => {
    accepted.on('error', () => undefined);
    accepted.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1');
      accepted.write('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

beforeEach(() => {
  received = '';
  socket = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, rejectUnauthorized: false });
  connection = new WebhookConnection('server', socket, owner);
});

afterEach(() => connection.destroy());

afterAll(async () => {
  server.close();
  await once(server, 'close');
});

const exchange = (text: string) =>
  new Promise<Ended>((resolve) =>
    connection.send({
      request: [text],
      answerBytesMax: 100,
      answered: ({ body }) => resolve({ body: body.toString() }),
      failed: (error, isStale) => resolve({ error, isStale }),
    }),
  );

it('a request is written at the end of the turn of the event loop that began it', async () => {
  await exchange('first');
  received = '';
  const second = exchange('second');
  const { bytesWritten } = socket;
  // Microtasks belong to the same turn.
  await Promise.resolve();
  expect(socket.bytesWritten).toBe(bytesWritten);
  expect(await second).toEqual({ body: 'yes' });
  expect(received).toBe('second');
});

it('bytes that arrive before the request is written are no answer, and it may be sent elsewhere', async () => {
  await exchange('first');
  const second = exchange('second');
  socket.emit('data', Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged'));
  expect(await second).toMatchObject({ isStale: true });
  await eventually('the connection is closed', () => socket.destroyed);
  expect(received).toBe('first');
});

it('a request that is cancelled in the turn that began it is not written', async () => {
  await exchange('first');
  const { bytesWritten } = socket;
  void exchange('second');
  connection.destroy();
  await once(socket, 'close');
  expect(socket.bytesWritten).toBe(bytesWritten);
  expect(received).toBe('first');
});
