import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { eventually } from '../../../test/harness/eventually.js';
import { ManualClock } from '../../std/clock.js';
import { SeededRng } from '../../std/rng.js';
import { acceptWebSocket } from './accept-websocket.js';
import { Channels } from './channels.js';
import { TunnelStream } from './tunnel-stream.js';
import { chosenSeed } from '../../../test/harness/seed.js';

const seed = chosenSeed();
const rng = new SeededRng(seed);
const clock = new ManualClock();

let server: Server;
let accepted: (webSocket: WebSocket, socket: Socket) => void;
const clients = new Set<Socket>();

beforeAll(async () => {
  server = createServer();
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    void acceptWebSocket({ request, head, take: () => socket }, 'v5.channel.k8s.io').then(
      (webSocket) => webSocket && accepted(webSocket, socket as Socket),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => clients.forEach((socket) => socket.destroy()));
afterAll(() => server.close());

/** Connects a client that writes frames by hand. */
async function connected(): Promise<{ socket: Socket; webSocket: WebSocket; serverSocket: Socket }> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  clients.add(socket);
  socket.on('error', () => undefined);
  const opened = new Promise<[WebSocket, Socket]>((resolve) => (accepted = (...both) => resolve(both)));
  const lines = ['GET / HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  socket.write(`${lines.join('\r\n')}\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`);
  const [webSocket, serverSocket] = await opened;
  return { socket, webSocket, serverSocket };
}

const channelsOf = (webSocket: WebSocket): Channels =>
  new Channels(webSocket, {
    clock,
    isBase64: false,
    hasCloseSignal: true,
    received: [0, 4],
    channels: 5,
    idleMsMax: 60_000,
  });

interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
  readonly isFinal?: boolean;
  readonly isMasked?: boolean;
  readonly reserved?: number;
}

const zeroMask = Buffer.alloc(4);
function frame({ opcode, payload, isFinal = true, isMasked = true, reserved = 0 }: Frame): Buffer {
  const { length } = payload;
  const size = length < 126 ? Buffer.alloc(0) : Buffer.alloc(length < 65_536 ? 2 : 8);
  if (size.length === 2) size.writeUInt16BE(length);
  if (size.length === 8) size.writeBigUInt64BE(BigInt(length));
  const short = length < 126 ? length : size.length === 2 ? 126 : 127;
  const head = Buffer.of((isFinal ? 0x80 : 0) | (reserved << 4) | opcode, (isMasked ? 0x80 : 0) | short);
  return Buffer.concat([head, size, isMasked ? zeroMask : Buffer.alloc(0), payload]);
}

const binary = (...bytes: number[]): Buffer => frame({ opcode: 2, payload: Buffer.from(bytes) });

function hostileFrame(): Buffer {
  const payload = Buffer.alloc(rng.below(4) === 0 ? rng.below(70_000) : rng.below(200), rng.below(256));
  if (rng.below(2) === 0 && payload.length > 0) payload[0] = rng.below(6);
  const choices: readonly (() => Buffer)[] = [
    () => frame({ opcode: 2, payload }),
    () => frame({ opcode: 1, payload }),
    () => frame({ opcode: 2, payload, isFinal: false }),
    () => frame({ opcode: 0, payload, isFinal: rng.below(2) === 0 }),
    () => frame({ opcode: 8 + rng.below(3), payload: payload.subarray(0, 130), isFinal: rng.below(5) > 0 }),
    () => frame({ opcode: rng.below(16), payload, isMasked: rng.below(3) > 0, reserved: rng.below(8) }),
    () => Buffer.concat([Buffer.of(0x82, 0xff), Buffer.alloc(8, rng.below(256)), payload]),
    () => binary(255, rng.below(8)),
    () => payload,
  ];
  // Mostly messages that are valid, so that the connection lives on.
  return choices[rng.below(3) > 0 ? 0 : rng.below(choices.length)]!();
}

it(`random frames end the WebSocket or are read, and its channels end with it (seed ${seed})`, async () => {
  for (let round = 0; round < 150; round++) {
    const { socket, webSocket } = await connected();
    const isTunnel = rng.below(3) === 0;
    const ended = isTunnel ? endOfTunnel(new TunnelStream(webSocket)) : endOfChannels(channelsOf(webSocket));
    for (let n = rng.below(30); n >= 0; n--) socket.write(hostileFrame());
    socket.resume().end();
    await ended;
    socket.destroy();
  }
});

async function endOfChannels(channels: Channels): Promise<void> {
  const inputs = [channels.input(0)!, channels.input(4)!];
  inputs.forEach((input) => input.resume());
  await channels.closed;
  for (const input of inputs) if (!input.readableEnded) await once(input, 'end');
}

async function endOfTunnel(tunnel: TunnelStream): Promise<void> {
  tunnel.resume();
  tunnel.on('error', () => undefined);
  await once(tunnel, 'close');
}

it.each<[string, string, () => Buffer]>([
  [
    'a message beyond 4 MiB',
    'UNSUPPORTED_MESSAGE_LENGTH',
    () => frame({ opcode: 2, payload: Buffer.alloc(4 * 1024 * 1024 + 1) }),
  ],
  [
    'a length of 2^63',
    'UNSUPPORTED_DATA_PAYLOAD_LENGTH',
    () => Buffer.concat([Buffer.of(0x82, 0xff, 0x7f), Buffer.alloc(60, 0xff)]),
  ],
  ['a frame without a mask', 'EXPECTED_MASK', () => frame({ opcode: 2, payload: Buffer.of(0), isMasked: false })],
  ['a compressed frame', 'UNEXPECTED_RSV_1', () => frame({ opcode: 2, payload: Buffer.of(0), reserved: 4 })],
  ['a continuation of nothing', 'INVALID_OPCODE', () => frame({ opcode: 0, payload: Buffer.of(0) })],
  ['a ping of 126 bytes', 'INVALID_CONTROL_PAYLOAD_LENGTH', () => frame({ opcode: 9, payload: Buffer.alloc(126) })],
  [
    'a message in fragments of one byte',
    'TOO_MANY_BUFFERED_PARTS',
    () =>
      Buffer.concat([
        frame({ opcode: 2, payload: Buffer.of(0), isFinal: false }),
        ...Array.from({ length: 20_000 }, () => frame({ opcode: 0, payload: Buffer.of(0), isFinal: false })),
      ]),
  ],
])('%s ends the WebSocket (%s)', async (_name, code, bytes) => {
  const { socket, webSocket } = await connected();
  const channels = channelsOf(webSocket);
  const failure = once(webSocket, 'error');
  socket.resume().write(bytes());
  expect((await failure)[0]).toMatchObject({ code: `WS_ERR_${code}` });
  await channels.closed;
});

it('pings whose answers the client does not read end the WebSocket', async () => {
  const { socket, webSocket } = await connected();
  const channels = channelsOf(webSocket);
  let isClosed = false;
  void channels.closed.then(() => (isClosed = true));
  socket.pause();
  const pings = Buffer.concat(Array.from({ length: 500 }, () => frame({ opcode: 9, payload: Buffer.alloc(125) })));
  while (!isClosed) if (!socket.write(pings)) await new Promise((resolve) => setImmediate(resolve));
  await channels.closed;
});

it('small messages that nobody consumes stop the WebSocket, also between large ones that are ignored', async () => {
  const { socket, webSocket, serverSocket } = await connected();
  const channels = channelsOf(webSocket);
  const ignored = frame({ opcode: 2, payload: Buffer.alloc(60_000, 9) });
  const count = 500;
  let left = count;
  const write = () => {
    while (left-- > 0) if (!socket.write(Buffer.concat([binary(0, 120), ignored]))) return;
  };
  socket.on('drain', write);
  write();
  await eventually('the server stops reading', () => serverSocket.isPaused());
  expect(serverSocket.bytesRead).toBeLessThan(2 * 1024 * 1024);
  let length = 0;
  channels.input(0)!.on('data', (bytes: Buffer) => (length += bytes.length));
  await eventually('all messages arrive', () => length === count);
});
