import { once } from 'node:events';
import type { Socket } from 'node:net';
import { eventually } from '../../../test/harness/eventually.js';
import { socketPair } from '../../../test/harness/socket-pair.js';

import { ManualClock } from '../../std/clock.js';
import { dataFrameHead, pingFrame, rstStreamFrame, synStreamFrame } from './frames.js';
import { HeaderCompressor } from './header-block.js';
import { SpdyConnection, type SpdyOptions } from './spdy-connection.js';
import type { SpdyStream } from './spdy-stream.js';

const clock = new ManualClock();
const sockets: Socket[] = [];
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

type Options = Partial<SpdyOptions>;

/** A client and a server. Streams that the server accepts are collected. */
async function connected(serverOptions: Options = {}, clientOptions: Options = {}) {
  const [clientSocket, serverSocket] = await socketPair();
  sockets.push(clientSocket, serverSocket);
  const accepted: SpdyStream[] = [];
  const onStream = (stream: SpdyStream) => accepted.push(stream) > 0;
  const server = new SpdyConnection(serverSocket, { clock, isServer: true, onStream, ...serverOptions });
  const client = new SpdyConnection(clientSocket, { clock, isServer: false, ...clientOptions });
  return { client, server, accepted, clientSocket, serverSocket };
}

/** A server, and a socket to it on which frames are written by hand. */
async function attacked(options: Options = {}) {
  const [socket, serverSocket] = await socketPair();
  sockets.push(socket, serverSocket);
  const accepted: SpdyStream[] = [];
  const onStream = (stream: SpdyStream) => accepted.push(stream) > 0;
  const server = new SpdyConnection(serverSocket, { clock, isServer: true, onStream, ...options });
  const compressor = new HeaderCompressor();
  const syn = (id: number) => synStreamFrame(id, compressor.compress(new Map([['streamtype', 'stdin']])));
  return { server, socket, accepted, syn };
}
/** Reads to the end. Unlike an iterator, it leaves the other direction open. */
async function textOf(stream: SpdyStream): Promise<string> {
  const parts: Buffer[] = [];
  stream.on('data', (part: Buffer) => parts.push(part));
  await once(stream, 'end');
  return Buffer.concat(parts).toString();
}
const headers = (type: string) => new Map([['streamtype', type]]);

it('streams carry data of both directions, and each direction ends by itself', async () => {
  const { client, accepted } = await connected();
  const stream = await client.createStream(headers('stdin'));
  const [remote] = accepted as [SpdyStream];
  expect(remote.headers).toEqual(headers('stdin'));
  stream.end('to the server');
  expect(await textOf(remote)).toBe('to the server');
  remote.end('to the client');
  expect(await textOf(stream)).toBe('to the client');
  expect(stream.isReset).toBe(false);
});

it('a megabyte in each of ten streams arrives unchanged', async () => {
  const { client, accepted } = await connected();
  const bytes = Buffer.alloc(1024 * 1024, 'abc');
  const streams = await Promise.all(Array.from({ length: 10 }, (_, i) => client.createStream(headers(`${i}`))));
  streams.forEach((stream) => stream.end(bytes));
  const received = await Promise.all(accepted.map(textOf));
  expect(received.map((one) => one === bytes.toString())).toEqual(Array<boolean>(10).fill(true));
});

it('a consumer that does not read stops the sender within the bound', async () => {
  const { client, accepted, serverSocket } = await connected({ bounds: { unreadBytesMax: 100_000 } });
  const stream = await client.createStream(headers('stdin'));
  const bytes = Buffer.alloc(64 * 1024 * 1024, 7);
  stream.end(bytes);
  await once(serverSocket, 'pause');
  const [remote] = accepted as [SpdyStream];
  let length = 0;
  for await (const part of remote as AsyncIterable<Buffer>) length += part.length;
  expect(length).toBe(bytes.length);
});

it('the last data of a peer that leaves input unread arrives', async () => {
  const [clientSocket, serverSocket] = await socketPair();
  sockets.push(clientSocket, serverSocket);
  const server = new SpdyConnection(serverSocket, { clock, isServer: true, onStream: (one) => accepted.push(one) > 0 });
  const accepted: SpdyStream[] = [];
  const compressor = new HeaderCompressor();
  clientSocket.write(synStreamFrame(1, compressor.compress(headers('error'))));
  await eventually('the stream is accepted', () => Promise.resolve(accepted.length === 1));
  const text = textOf(accepted[0]!);
  // Sent and reset before the server reads it; its own write then fails.
  clientSocket.write(Buffer.concat([dataFrameHead(1, 4, true), Buffer.from('over')]));
  clientSocket.resetAndDestroy();
  accepted[0]!.write(Buffer.alloc(100_000));
  expect(await text).toBe('over');
  await server.closed;
});

it('a refused stream rejects at its creator', async () => {
  const { client } = await connected({ onStream: () => false });
  await expect(client.createStream(headers('odd'))).rejects.toThrow('refused');
});

it('a stream that is not accepted in time rejects', async () => {
  const [clientSocket, silent] = await socketPair();
  sockets.push(clientSocket, silent);
  const client = new SpdyConnection(clientSocket, { clock, isServer: false });
  const creation = client.createStream(headers('stdin'));
  clock.advance(30_000);
  await expect(creation).rejects.toThrow('in time');
});

it('closing the connection delivers what was sent, and marks the streams as reset', async () => {
  const { client, server, accepted } = await connected();
  const stream = await client.createStream(headers('stdout'));
  const [remote] = accepted as [SpdyStream];
  remote.write('last words', () => server.close());
  expect(await textOf(stream)).toBe('last words');
  expect(stream.isReset).toBe(true);
  expect(await client.closed).toBeUndefined();
  expect(await server.closed).toBeUndefined();
});

it('a lost connection ends its streams and refuses others', async () => {
  const { client, clientSocket, server, accepted } = await connected();
  await client.createStream(headers('stdout'));
  const [remote] = accepted as [SpdyStream];
  clientSocket.destroy();
  expect(await textOf(remote)).toBe('');
  await server.closed;
  await expect(server.createStream(headers('x'))).rejects.toThrow('ended');
});

it('PING is answered and keeps an idle connection open', async () => {
  const times = { pingMs: 1000, bounds: { idleMsMax: 5000 } };
  const { client, server, clientSocket } = await connected({ bounds: { idleMsMax: 5000 } }, times);
  for (let i = 0; i < 10; i++) {
    const answered = once(clientSocket, 'data');
    clock.advance(1000);
    await answered;
  }
  await client.createStream(headers('still open'));
  client.close();
  await server.closed;
});

it('an idle connection ends', async () => {
  const { server } = await connected({ bounds: { idleMsMax: 5000 } });
  clock.advance(5000);
  expect(await server.closed).toMatchObject({ message: expect.stringContaining('idle') });
});

it('a connection has no more streams than its bound', async () => {
  const { client } = await connected({ bounds: { streamsMax: 3 } });
  for (let i = 0; i < 3; i++) await client.createStream(headers(`${i}`));
  await expect(client.createStream(headers('4'))).rejects.toThrow('refused');
});

it('data for unknown streams is ignored', async () => {
  const { server, socket, accepted, syn } = await attacked();
  socket.write(Buffer.concat([dataFrameHead(77, 3, true), Buffer.from('abc'), rstStreamFrame(9, 5), syn(1)]));
  await once(socket, 'data');
  expect(accepted).toHaveLength(1);
  server.close();
});

it('data after the end of a stream resets it', async () => {
  const { socket, accepted, syn } = await attacked();
  socket.write(Buffer.concat([syn(1), dataFrameHead(1, 0, true), dataFrameHead(1, 1, false), Buffer.of(7)]));
  await once(socket, 'data');
  const [stream] = accepted as [SpdyStream];
  expect(await textOf(stream)).toBe('');
  expect(stream.isReset).toBe(true);
});

describe('hostile frames end the connection', () => {
  const many = (frame: Buffer, count: number) => Buffer.concat(Array.from({ length: count }, () => frame));
  const head = (type: number, length: number, version = 3) => {
    const bytes = Buffer.alloc(8);
    bytes.writeUInt16BE(0x8000 | version, 0);
    bytes.writeUInt16BE(type, 2);
    bytes.writeUInt32BE(length, 4);
    return bytes;
  };
  it.each([
    ['a PING flood without reading', many(pingFrame(1), 2_000_000)],
    ['a control frame of 3 MiB', head(1, 3 * 1024 * 1024)],
    ['an unknown frame type', head(5, 0)],
    ['another version', head(6, 4, 2)],
    ['data for stream 0', dataFrameHead(0, 0, false)],
    ['a stream of the wrong side', synStreamFrame(2, new HeaderCompressor().compress(new Map()))],
    ['a WINDOW_UPDATE of zero', Buffer.concat([head(9, 8), Buffer.of(0, 0, 0, 1, 0, 0, 0, 0)])],
    ['SETTINGS with a false count', Buffer.concat([head(4, 4), Buffer.of(255, 255, 255, 255)])],
    ['garbage', Buffer.alloc(64 * 1024, 0xff)],
  ])('%s', async (_name, bytes) => {
    const { server, socket } = await attacked();
    socket.on('error', () => undefined);
    socket.pause();
    socket.write(bytes);
    expect(await server.closed).toBeInstanceOf(Error);
  });

  it('streams with ids that do not grow', async () => {
    const { server, socket, syn } = await attacked();
    socket.write(Buffer.concat([syn(3), syn(3)]));
    expect(await server.closed).toMatchObject({ message: expect.stringContaining('no valid id') });
  });
});
