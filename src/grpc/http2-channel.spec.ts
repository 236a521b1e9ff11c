import { once } from 'node:events';
import { constants, createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../std/clock.js';
import { Http2Channel } from './http2-channel.js';

const allIsWell = { 'grpc-status': '0' };
const ok = { ':status': 200, 'content-type': 'application/grpc' };

function frameOf(message: string | Buffer): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, Buffer.from(message)]);
}

/** Responds like gRPC: headers, messages, trailers. */
function answer(stream: ServerHttp2Stream, messages: string | Buffer | string[], trailers: object = allIsWell): void {
  stream.respond(ok, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ ...trailers }));
  stream.end(Buffer.concat((Array.isArray(messages) ? messages : [messages]).map(frameOf)));
}

const resetWith = (code: number) => (stream: ServerHttp2Stream) => stream.close(code);

type Handler = (stream: ServerHttp2Stream, headers: Record<string, unknown>) => void;

describe('Http2Channel', () => {
  const closing: (() => void)[] = [];
  afterEach(() => closing.splice(0).forEach((close) => close()));

  const listen = async (server: Server | Http2Server, at: object = { port: 0, host: '127.0.0.1' }) => {
    server.listen(at);
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const start = async (handler: Handler, at?: object) => {
    const server = createServer({ maxSessionMemory: 100 });
    const sessions: ServerHttp2Session[] = [];
    server.on('session', (session) => {
      sessions.push(session);
      session.on('error', () => undefined);
    });
    server.on('stream', (stream, headers) => {
      stream.on('error', () => undefined);
      handler(stream, headers);
    });
    closing.push(() => {
      sessions.forEach((session) => session.destroy());
      server.close();
    });
    return { url: await listen(server, at), sessions };
  };
  const channelTo = (url: string) => {
    const clock = new ManualClock();
    const channel = new Http2Channel({ url, clock });
    closing.push(() => channel.close());
    return { channel, clock };
  };
  const call = (channel: Http2Channel, clock: ManualClock, more: { signal?: AbortSignal; message?: Buffer } = {}) =>
    channel.unary({
      path: '/test.Test/Call',
      frame: frameOf(more.message ?? 'question'),
      decode: (message) => message,
      deadlineMs: clock.now() + 1_000,
      signal: more.signal,
    });
  const connected = async (handler: Handler) => {
    const server = await start(handler);
    const { channel, clock } = channelTo(server.url);
    await channel.connect(1_000);
    return { ...server, channel, clock };
  };

  it('verify() in the turn in which the session was destroyed does not throw', async () => {
    const { channel } = await connected(() => undefined);
    const { session } = (channel as unknown as { connection: { session: { destroy(): void } } }).connection;
    session.destroy();
    expect(() => channel.verify()).not.toThrow();
  });

  it('sends gRPC headers and returns the message', async () => {
    let seen: Record<string, unknown> = {};
    const { channel, clock, url } = await connected((stream, headers) => {
      seen = headers;
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => answer(stream, Buffer.concat(chunks)));
    });
    expect((await call(channel, clock)).subarray(5).toString()).toBe('question');
    expect(seen).toMatchObject({
      ':method': 'POST',
      ':path': '/test.Test/Call',
      ':scheme': 'http',
      ':authority': new URL(url).host,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
  });

  it.each<[string, Handler, object]>([
    [
      'trailers alone',
      (stream) =>
        stream.respond({ ...ok, 'grpc-status': '11', 'grpc-message': 'required%20revision' }, { endStream: true }),
      { name: 'GrpcError', code: 11, details: 'required revision' },
    ],
    [
      'an error behind a message',
      (stream) => answer(stream, 'half', { 'grpc-status': '14', 'grpc-message': 'etcdserver: no leader' }),
      { code: 14, details: 'etcdserver: no leader' },
    ],
    ['a grpc-message with invalid encoding', (s) => answer(s, '', { 'grpc-status': '2', 'grpc-message': '%zz' }), { code: 2, details: '%zz' }], // prettier-ignore
    ['an invalid status', (stream) => answer(stream, '', { 'grpc-status': 'x' }), { code: 2 }],
    ['no status', (stream) => answer(stream, '', { other: 'x' }), { code: 2 }],
    [
      'an answer without a message',
      (stream) => stream.respond({ ...ok, 'grpc-status': '0' }, { endStream: true }),
      { code: 13 },
    ],
    ['two messages', (stream) => answer(stream, ['a', 'b']), { code: 13 }],
    ['a 503 of a proxy', (s) => s.respond({ ':status': 503 }, { endStream: true }), { code: 14 }],
    ['an HTML page', (s) => (s.respond({ ':status': 200, 'content-type': 'text/html' }), s.end('<p>')), { code: 2 }],
    ['RST_STREAM, internal error', resetWith(constants.NGHTTP2_INTERNAL_ERROR), { name: 'GrpcError', code: 13 }],
    ['RST_STREAM, cancel', resetWith(constants.NGHTTP2_CANCEL), { code: 1 }],
    ['RST_STREAM, enhance your calm', resetWith(constants.NGHTTP2_ENHANCE_YOUR_CALM), { code: 8 }],
    ['RST_STREAM, refused', resetWith(constants.NGHTTP2_REFUSED_STREAM), { name: 'NotConnectedError' }],
    ['a lost connection', (stream) => stream.session!.destroy(), { name: 'GrpcError', code: 14 }],
    [
      'an answer that is cut short',
      (stream) => {
        stream.respond(ok);
        stream.write(frameOf('whole').subarray(0, 7), () => stream.session!.destroy());
      },
      { code: 14 },
    ],
  ])('%s', async (_, handler, want) => {
    const { channel, clock } = await connected(handler);
    await expect(call(channel, clock)).rejects.toMatchObject(want);
  });

  it('handles a response that arrives before the request is complete', async () => {
    const { channel, clock } = await connected((stream) => {
      stream.respond({ ...ok, 'grpc-status': '8', 'grpc-message': 'larger than max' }, { endStream: true });
    });
    await expect(call(channel, clock, { message: Buffer.alloc(8_000_000) })).rejects.toMatchObject({ code: 8 });
  });

  it('joins 20 MB from many DATA frames', async () => {
    const large = Buffer.alloc(20_000_000);
    for (let i = 0; i < large.length; i += 997) large[i] = i & 0xff;
    const { channel, clock } = await connected((stream) => answer(stream, large));
    const [one, two] = await Promise.all([call(channel, clock), call(channel, clock)]);
    expect([one.equals(large), two.equals(large)]).toEqual([true, true]);
  });

  it('cancels a call at its deadline, also at the server', async () => {
    let asked!: () => void;
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    let code: number | undefined;
    const { channel, clock } = await connected((stream) => {
      stream.on('close', () => (code = stream.rstCode));
      asked();
    });
    const slow = call(channel, clock);
    await isAsked;
    clock.advance(500);
    const later = call(channel, clock);
    clock.advance(499);
    const isOver = jest.fn();
    void slow.catch(isOver);
    await Promise.resolve();
    expect(isOver).not.toHaveBeenCalled();
    clock.advance(1);
    await expect(slow).rejects.toMatchObject({ code: 4, details: 'Deadline exceeded' });
    clock.advance(500);
    await expect(later).rejects.toMatchObject({ code: 4 });
    while (code === undefined) await new Promise(setImmediate);
    expect(code).toBe(constants.NGHTTP2_CANCEL);
    expect(channel.isConnected()).toBe(true);
  });

  it('cancels a call on abort, before and after it was sent', async () => {
    const { channel, clock } = await connected(() => undefined);
    const controller = new AbortController();
    const given = call(channel, clock, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(given).rejects.toMatchObject({ code: 1 });
    await expect(call(channel, clock, { signal: controller.signal })).rejects.toMatchObject({ code: 1 });
  });

  it('after GOAWAY makes no new calls, completes the old ones, and reconnects', async () => {
    const waiting: ServerHttp2Stream[] = [];
    const { channel, clock, sessions } = await connected((stream) => void waiting.push(stream));
    const first = call(channel, clock);
    while (waiting.length < 1) await new Promise(setImmediate);
    sessions[0]!.goaway(0);
    while (channel.isConnected()) await new Promise(setImmediate);
    await expect(Promise.resolve().then(() => call(channel, clock))).rejects.toMatchObject({
      name: 'NotConnectedError',
    });
    await channel.connect(1_000);
    const second = call(channel, clock);
    while (waiting.length < 2) await new Promise(setImmediate);
    for (const [index, stream] of waiting.entries()) answer(stream, `${index}`);
    expect((await Promise.all([first, second])).map(String)).toEqual(['0', '1']);
    expect(sessions).toHaveLength(2);
  });

  it('streams in both directions until one side ends the stream', async () => {
    const { channel } = await connected((stream) => {
      stream.respond(ok, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.on('data', (chunk: Buffer) => {
        if (chunk.includes('end')) stream.end();
        else stream.write(chunk);
      });
    });
    const said: string[] = [];
    const closed = await new Promise<Error | undefined>((resolve) => {
      const stream = channel.open(
        '/test.Test/Stream',
        { hasleader: 'true' },
        {
          message: (bytes) => {
            said.push(bytes.toString());
            stream.send(frameOf(said.length < 3 ? `${said.length}` : 'end'));
          },
          closed: resolve,
        },
      );
      stream.send(frameOf('0'));
    });
    expect([said, closed]).toEqual([['0', '1', '2'], undefined]);
  });

  it('reports a throwing listener, and a cancellation, once', async () => {
    const { channel } = await connected((stream) => {
      stream.respond(ok);
      stream.write(Buffer.concat([frameOf('a'), frameOf('b')]));
    });
    const messages: string[] = [];
    const error = await new Promise<Error | undefined>((resolve) => {
      channel.open(
        '/test.Test/Stream',
        {},
        {
          message: (bytes) => {
            messages.push(bytes.toString());
            throw new Error('bad');
          },
          closed: resolve,
        },
      );
    });
    expect([messages, error]).toEqual([['a'], expect.objectContaining({ code: 13, details: 'Error: bad' })]);
    const closed = jest.fn();
    const stream = channel.open('/test.Test/Stream', {}, { message: () => undefined, closed });
    const reason = new Error('enough');
    stream.cancel(reason);
    stream.cancel(reason);
    stream.send(frameOf('unheard'));
    channel.close();
    expect(closed.mock.calls).toEqual([[reason]]);
  });

  it('close() ends all calls and prevents reconnecting', async () => {
    const { channel, clock } = await connected(() => undefined);
    const pending = call(channel, clock);
    channel.close();
    await expect(pending).rejects.toMatchObject({ code: 1 });
    await expect(channel.connect(1_000)).rejects.toMatchObject({ name: 'NotConnectedError' });
  });

  describe('with an unresponsive peer', () => {
    /** Sends the server's HTTP/2 preface, if it may, and nothing more. */
    const startSilent = async (first: Buffer) => {
      const server = createTcpServer((socket) => {
        socket.on('error', () => undefined);
        socket.resume();
        socket.write(first);
        closing.push(() => socket.destroy());
      });
      closing.push(() => server.close());
      return listen(server);
    };
    const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

    it('detects it by ping while there are calls', async () => {
      const { channel, clock } = channelTo(await startSilent(settings));
      await channel.connect(1_000);
      clock.advance(60_000);
      expect(channel.isConnected()).toBe(true);
      const closed = new Promise<Error | undefined>((resolve) => {
        channel.open('/test.Test/Stream', {}, { message: () => undefined, closed: resolve });
      });
      clock.advance(10_000);
      expect(channel.isConnected()).toBe(true);
      clock.advance(5_000);
      expect(await closed).toMatchObject({ code: 14, details: 'a ping was not answered' });
      expect(channel.isConnected()).toBe(false);
    });

    it('stays connected while pings are answered', async () => {
      const { channel, clock, sessions } = await connected(() => undefined);
      channel.open('/test.Test/Stream', {}, { message: () => undefined, closed: () => undefined });
      for (let i = 0; i < 3; i++) {
        const pinged = once(sessions[0]!, 'ping');
        clock.advance(10_000);
        await pinged;
        for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      }
      expect(channel.isConnected()).toBe(true);
    });

    it('connect() rejects after its timeout', async () => {
      const { channel, clock } = channelTo(await startSilent(Buffer.alloc(0)));
      const connecting = channel.connect(300);
      clock.advance(300);
      await expect(connecting).rejects.toMatchObject({
        name: 'NotConnectedError',
        message: expect.stringContaining('was not reached in time'),
      });
    });

    it('connect() rejects if the peer does not speak HTTP/2', async () => {
      const { channel } = channelTo(await startSilent(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')));
      await expect(channel.connect(1_000)).rejects.toMatchObject({ name: 'NotConnectedError' });
    });

    it('rejects at once if the connection is refused, and dials again only after a delay', async () => {
      const placeholder = createTcpServer();
      const url = await listen(placeholder);
      placeholder.close();
      await once(placeholder, 'close');
      const { channel, clock } = channelTo(url);
      const failure = () =>
        channel.connect(1_000).then(
          () => undefined,
          (error: unknown) => error,
        );
      const first = await failure();
      expect(first).toMatchObject({ name: 'NotConnectedError', message: expect.stringContaining('ECONNREFUSED') });
      expect(await failure()).toBe(first);
      clock.advance(50);
      expect(await failure()).not.toBe(first);
      await start((stream) => answer(stream, 'here'), { host: '127.0.0.1', port: Number(new URL(url).port) });
      clock.advance(100);
      await channel.connect(1_000);
      expect((await call(channel, clock)).toString()).toBe('here');
    });
  });

  it.each([
    ['IPv6', { host: '::1', port: 0 }, (port: number) => `http://[::1]:${port}`],
    ['a host name', { host: '127.0.0.1', port: 0 }, (port: number) => `localhost:${port}`],
  ])('connects to %s', async (_, at, urlOf) => {
    const { url } = await start((stream) => answer(stream, 'here'), at);
    const { channel, clock } = channelTo(urlOf(Number(new URL(url).port)));
    await channel.connect(1_000);
    expect((await call(channel, clock)).toString()).toBe('here');
  });

  it('connects to a Unix socket', async () => {
    const path = join(tmpdir(), `keelson-${process.pid}.sock`);
    await start((stream) => answer(stream, 'here'), { path });
    const { channel, clock } = channelTo(`unix://${path}`);
    await channel.connect(1_000);
    expect((await call(channel, clock)).toString()).toBe('here');
  });

  it.each([['http://'], ['http://a:b:c'], ['']])('rejects the URL %p', (url) => {
    expect(() => channelTo(url)).toThrow(/URL/);
  });
});
