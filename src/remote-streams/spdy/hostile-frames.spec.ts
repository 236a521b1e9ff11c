import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { deflateSync } from 'node:zlib';
import { cpuMsOf } from '../../../test/harness/cpu-time.js';
import { eventually } from '../../../test/harness/eventually.js';
import { socketPair } from '../../../test/harness/socket-pair.js';
import { ManualClock } from '../../std/clock.js';
import { SeededRng } from '../../std/rng.js';
import { FrameReader } from './frame-reader.js';
import { dataFrameHead, goAwayFrame, pingFrame, rstStreamFrame, synReplyFrame, synStreamFrame } from './frames.js';
import { HeaderCompressor } from './header-block.js';
import { headerDictionary } from './header-dictionary.js';
import { SpdyConnection, type SpdyOptions } from './spdy-connection.js';
import type { SpdyStream } from './spdy-stream.js';
import { chosenSeed } from '../../../test/harness/seed.js';

const seed = chosenSeed();
const rng = new SeededRng(seed);
const clock = new ManualClock();
const sockets: Socket[] = [];
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

/** A connection, and the socket of its peer on which frames are written by hand. */
async function attacked(options: Partial<SpdyOptions> = {}) {
  const [socket, own] = await socketPair();
  sockets.push(socket, own);
  socket.on('error', () => undefined);
  const accepted: SpdyStream[] = [];
  const onStream = (stream: SpdyStream) => accepted.push(stream) > 0;
  const connection = new SpdyConnection(own, { clock, isServer: true, onStream, ...options });
  return { connection, socket, own, accepted };
}

const randomBytes = (length: number) => Buffer.from(Array.from({ length }, () => rng.below(256)));
const headers = () => new Map([['streamtype', ['stdin', 'stdout', 'error'][rng.below(3)]!]]);

function controlFrame(type: number, length: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt16BE(0x8003, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt32BE(length, 4);
  return Buffer.concat([head, payload]);
}

/** A frame that may be valid, of another stream, of a false length, or altered. */
function hostileFrame(compressor: HeaderCompressor): Buffer {
  const id = rng.below(40);
  const length = rng.below(300);
  const choices: readonly (() => Buffer)[] = [
    () => synStreamFrame(id, compressor.compress(headers())),
    () => synReplyFrame(id, compressor.compress(headers())),
    () => synStreamFrame(2 * id + 1, deflateSync(Buffer.alloc(rng.below(200_000)), { dictionary: headerDictionary })),
    () => Buffer.concat([dataFrameHead(id, length, rng.below(4) === 0), randomBytes(length)]),
    () => Buffer.concat([dataFrameHead(id, 2 ** 24 - 1, true), randomBytes(length)]),
    () => rstStreamFrame(id, rng.below(12)),
    () => pingFrame(rng.below(2 ** 31)),
    () => goAwayFrame(id, rng.below(4)),
    () => controlFrame(4, 4 + 8 * id, Buffer.concat([Buffer.of(0, 0, 0, id), randomBytes(8 * id)])),
    () => controlFrame(9, 8, randomBytes(8)),
    () => controlFrame(rng.below(20), rng.below(2 ** 24), randomBytes(length)),
    () => randomBytes(length),
  ];
  const frame = choices[rng.below(choices.length)]!();
  if (rng.below(3) > 0) return frame;
  if (rng.below(2) === 0) return frame.subarray(0, rng.below(frame.length + 1));
  if (frame.length > 0) frame[rng.below(frame.length)] = rng.below(256);
  return frame;
}

/** Writes bytes in pieces of any size. */
function writePieces(socket: Socket, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + rng.below(rng.below(2) === 0 ? 20 : 5_000);
    socket.write(bytes.subarray(at, end));
    at = end;
  }
}

it(`random frames end the connection or are ignored, and leave no stream open (seed ${seed})`, async () => {
  for (let round = 0; round < 250; round++) {
    const isServer = rng.below(2) === 0;
    const { connection, socket, accepted } = await attacked({ isServer });
    const created = isServer ? [] : [connection.createStream(headers()).catch(() => undefined)];
    accepted.forEach((stream) => rng.below(2) === 0 && stream.resume());
    const compressor = new HeaderCompressor();
    writePieces(socket, Buffer.concat(Array.from({ length: 1 + rng.below(40) }, () => hostileFrame(compressor))));
    socket.resume().end();
    const error = await connection.closed;
    expect(['undefined', 'SpdyError']).toContain(error?.name ?? 'undefined');
    for (const stream of accepted) {
      stream.resume();
      if (!stream.destroyed) await once(stream, 'close');
    }
    await Promise.all(created);
    socket.destroy();
  }
});

it(`valid frames in pieces of any size carry each stream unchanged (seed ${seed})`, async () => {
  for (let round = 0; round < 30; round++) {
    const { connection, socket, accepted } = await attacked();
    const compressor = new HeaderCompressor();
    const count = 1 + rng.below(8);
    const sent = Array.from({ length: count }, () => '');
    const frames = sent.map((_, index) => synStreamFrame(2 * index + 1, compressor.compress(headers())));
    for (let n = 0; n < 200; n++) {
      const index = rng.below(count);
      const text = 'abcdefgh'.repeat(rng.below(40));
      sent[index] += text;
      frames.push(dataFrameHead(2 * index + 1, text.length, false), Buffer.from(text));
      if (rng.below(5) === 0) frames.push(pingFrame(2 * n + 1), rstStreamFrame(999, 5));
    }
    sent.forEach((_, index) => frames.push(dataFrameHead(2 * index + 1, 0, true)));
    writePieces(socket.resume(), Buffer.concat(frames));
    await eventually('all streams are open', () => accepted.length === count);
    const received = await Promise.all(
      accepted.map(async (stream) => Buffer.concat(await stream.toArray()).toString()),
    );
    expect(received).toEqual(sent);
    connection.close();
  }
});

describe('floods', () => {
  it('streams that are opened and reset by a peer that reads nothing end the connection', async () => {
    // The kernel would take megabytes of answers first.
    const unread = new Duplex({ read: () => undefined, write: () => undefined });
    const connection = new SpdyConnection(unread, { clock, isServer: true, onStream: () => true });
    const compressor = new HeaderCompressor();
    let isClosed = false;
    void connection.closed.then(() => (isClosed = true));
    let opened = 0;
    for (; !isClosed && opened < 10_000; opened++) {
      const id = 2 * opened + 1;
      unread.push(Buffer.concat([synStreamFrame(id, compressor.compress(new Map())), rstStreamFrame(id, 5)]));
      if (opened % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await connection.closed).toMatchObject({ message: expect.stringContaining('does not read') });
    expect(opened).toBeLessThan(5_000);
    unread.destroy();
  });

  it('data frames of one byte that nobody consumes stop the connection by their memory, not by their bytes', async () => {
    const { connection, socket, own, accepted } = await attacked();
    socket.write(synStreamFrame(1, new HeaderCompressor().compress(headers())));
    const frame = Buffer.concat([dataFrameHead(1, 1, false), Buffer.of(120)]);
    const count = 60_000;
    socket.write(Buffer.concat(Array.from({ length: count }, () => frame)));
    await once(own, 'pause');
    expect(own.bytesRead).toBeLessThan(frame.length * 15_000);
    const [stream] = accepted as [SpdyStream];
    let length = 0;
    stream.on('data', (bytes: Buffer) => (length += bytes.length));
    await eventually('all arrive', () => length === count);
    connection.close();
  });

  const tlsRecordBytes = 16 * 1024;
  /** Fills a TLS record, which is what a socket delivers at once. */
  function filled(frame: (compressor: HeaderCompressor) => Buffer): Buffer {
    const compressor = new HeaderCompressor();
    const frames = [frame(compressor)];
    const count = Math.floor(tlsRecordBytes / frame(new HeaderCompressor()).length);
    while (frames.length < count) frames.push(frame(compressor));
    return Buffer.concat(frames);
  }
  it.each<[string, Buffer]>([
    ['SYN_REPLY', filled((compressor) => synReplyFrame(1, compressor.compress(headers())))],
    ['PING', filled(() => pingFrame(1))],
    ['SETTINGS', filled(() => controlFrame(4, 4, Buffer.alloc(4)))],
    ['empty data', filled(() => dataFrameHead(1, 0, false))],
    [
      'headers of 16 KiB',
      filled((compressor) => synReplyFrame(1, compressor.compress(new Map([['x', 'y'.repeat(16_000)]])))),
    ],
  ])('a TLS record full of frames (%s) is read within 60 ms of CPU time', (_name, bytes) => {
    const sink = { control: () => undefined, data: () => undefined, dataEnd: () => undefined };
    const bounds = { controlBytesMax: 16 * 1024, headersMax: 64, headerBytesMax: 16 * 1024 };
    const ms = cpuMsOf(() => new FrameReader(bounds, sink).push(bytes));
    expect(ms).toBeLessThan(60);
  });
});
