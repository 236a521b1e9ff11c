import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { ChannelClient } from '../harness/channel-client.js';
import { eventually } from '../harness/eventually.js';
import { StreamingGateway } from '../harness/streaming-gateway.js';
import { StreamingKubelet } from '../harness/streaming-kubelet.js';

const hasScript = existsSync('/usr/bin/script') || existsSync('/bin/script');
if (!hasScript) process.stderr.write('skipped: terminals: install util-linux\n');
const itWithTerminal = hasScript ? it : it.skip;

let kubelet: StreamingKubelet;
let gateway: StreamingGateway;
beforeAll(async () => {
  kubelet = await StreamingKubelet.start();
  gateway = await StreamingGateway.start({ scheme: 'http', host: '127.0.0.1', port: kubelet.port });
});
afterAll(() => {
  gateway.stop();
  kubelet.stop();
});

const pathOf = (command: readonly string[], streams: string, pod = 'pod') =>
  `/exec/default/${pod}/main?${streams}&${command.map((word) => `command=${encodeURIComponent(word)}`).join('&')}`;
const v5 = ['v5.channel.k8s.io'];
const translated = (command: readonly string[], streams: string, pod?: string) =>
  ChannelClient.open(`ws://${gateway.host}${pathOf(command, streams, pod)}`, v5);
const atKubelet = (command: readonly string[], streams: string, protocol: string) =>
  ChannelClient.open(`ws://127.0.0.1:${kubelet.port}${pathOf(command, streams)}`, [protocol]);
const all = 'input=1&output=1&error=1';

/** Waits until no command runs, and no connection of a client or to the kubelet is open. */
const everythingEnds = () =>
  eventually('connections and processes end', async () => {
    const { processes, sockets } = await kubelet.state();
    return processes === 0 && sockets === 0 && gateway.sockets.size === 0;
  });

describe('a v5 WebSocket translated to SPDY', () => {
  it('gets output, errors and exit code of a command', async () => {
    const client = await translated(['sh', '-c', 'echo out; echo err >&2; exit 7'], all);
    expect(await client.status()).toEqual({
      metadata: {},
      status: 'Failure',
      reason: 'NonZeroExitCode',
      message: 'command terminated with non-zero exit code: command terminated with exit code 7',
      details: { causes: [{ reason: 'ExitCode', message: '7' }] },
    });
    expect(client.received.slice(1, 3)).toEqual(['out\n', 'err\n']);
    expect(await client.closed).toBe(1000);
  });

  it('ends stdin by the close signal', async () => {
    const client = await translated(['cat'], 'input=1&output=1');
    client.send(0, 'one ');
    client.send(0, 'two');
    client.closeChannel(0);
    expect(await client.status()).toEqual({ metadata: {}, status: 'Success' });
    expect(client.stdout).toBe('one two');
  });

  it('carries 20 MB in both directions', async () => {
    const client = await translated(['cat'], 'input=1&output=1');
    const part = 'x'.repeat(1_000_000);
    for (let i = 0; i < 20; i++) client.send(0, part);
    client.closeChannel(0);
    expect(await client.status()).toMatchObject({ status: 'Success' });
    expect(client.stdout).toHaveLength(20_000_000);
  });

  itWithTerminal('sets the size of a terminal', async () => {
    const client = await translated(['stty', 'size'], 'input=1&output=1&tty=1');
    client.send(4, '{"Width":123,"Height":45}\n');
    expect(await client.status()).toMatchObject({ status: 'Success' });
    expect(client.stdout).toContain('45 123');
  });

  it('reports an answer that refuses the upgrade', async () => {
    const client = await translated(['true'], 'output=1', 'refused');
    expect(await client.status()).toEqual({
      metadata: {},
      status: 'Failure',
      reason: 'InternalError',
      message: 'Internal error occurred: unable to upgrade connection: pod does not exist',
      details: { causes: [{ message: 'unable to upgrade connection: pod does not exist' }] },
      code: 500,
    });
  });

  it('reports a command that cannot be run', async () => {
    const client = await translated(['/no/such/program'], 'output=1');
    expect(await client.status()).toMatchObject({
      code: 500,
      message: expect.stringContaining('error executing command in container: spawn /no/such/program ENOENT'),
    });
  });

  it('reports a server that cannot be reached', async () => {
    const unreachable = await StreamingGateway.start({ scheme: 'http', host: '127.0.0.1', port: 1 });
    const client = await ChannelClient.open(`ws://${unreachable.host}${pathOf(['true'], 'output=1')}`, v5);
    expect(await client.status()).toMatchObject({ code: 500, message: expect.stringContaining('connection refused') });
    unreachable.stop();
  });

  it('kills the command when the client vanishes', async () => {
    const client = await translated(['sleep', '600'], all);
    await eventually('the command runs', async () => (await kubelet.state()).processes === 1);
    client.webSocket.terminate();
    await everythingEnds();
  });

  it('stops a command whose output the client does not read', async () => {
    const client = await translated(['cat', '/dev/zero'], 'output=1');
    client.webSocket.pause();
    let before = -1;
    const { rss } = process.memoryUsage();
    await eventually('the output stops', async () => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      const { messages } = client;
      const isStill = messages === before;
      before = messages;
      return isStill;
    });
    expect(process.memoryUsage().rss - rss).toBeLessThan(300_000_000);
    client.webSocket.terminate();
    await everythingEnds();
  });

  it('tells of a server that vanishes', async () => {
    const lost = await StreamingKubelet.start();
    const other = await StreamingGateway.start({ scheme: 'http', host: '127.0.0.1', port: lost.port });
    const client = await ChannelClient.open(`ws://${other.host}${pathOf(['sleep', '5'], all)}`, v5);
    await eventually('the command runs', async () => (await lost.state()).processes === 1);
    lost.stop();
    expect(await client.status()).toMatchObject({
      code: 500,
      message: 'Internal error occurred: the connection ended before the status of the command',
    });
    other.stop();
  });

  it.each([
    ['a close signal for an unknown channel', Buffer.of(255, 9)],
    ['a close signal without a channel', Buffer.of(255)],
    ['a message beyond the limit', Buffer.alloc(4 * 1024 * 1024 + 1)],
  ])('ends after %s', async (_name, message) => {
    const client = await translated(['sleep', '600'], all);
    client.webSocket.send(message);
    await client.closed;
    await everythingEnds();
  });

  it('ignores empty messages and unknown channels', async () => {
    const client = await translated(['cat'], 'input=1&output=1');
    for (const bytes of [Buffer.alloc(0), Buffer.of(0), Buffer.of(77, 1), Buffer.of(1, 2), Buffer.of(254)]) {
      client.webSocket.send(bytes);
    }
    client.webSocket.ping();
    await once(client.webSocket, 'pong');
    client.closeChannel(0);
    expect(await client.status()).toMatchObject({ status: 'Success' });
  });

  it('a flood of PING that reads no answer ends the connection', async () => {
    const client = await translated(['sleep', '600'], all);
    const { _socket: socket } = client.webSocket as unknown as { readonly _socket: Socket };
    client.webSocket.pause();
    // A masked PING with 125 bytes.
    const ping = Buffer.concat([Buffer.of(0x89, 0x80 | 125, 0, 0, 0, 0), Buffer.alloc(125)]);
    const flood = Buffer.concat(Array.from({ length: 4_000 }, () => ping));
    socket.on('error', () => undefined);
    const send = (error?: Error | null) => {
      if (!error && !socket.destroyed) socket.write(flood, send);
    };
    send();
    await everythingEnds();
    client.webSocket.terminate();
  });
});

describe('the WebSocket protocols of a container runtime', () => {
  it.each(['v4.channel.k8s.io', 'v4.base64.channel.k8s.io'])('%s tells the exit code', async (protocol) => {
    const client = await atKubelet(['sh', '-c', 'read line; echo "<$line>"; exit 3'], all, protocol);
    client.send(0, 'text\n');
    expect(await client.status()).toMatchObject({ details: { causes: [{ reason: 'ExitCode', message: '3' }] } });
    expect(client.stdout).toBe('<text>\n');
  });

  it.each(['channel.k8s.io', 'base64.channel.k8s.io'])('%s tells a failure as text', async (protocol) => {
    const client = await atKubelet(['sh', '-c', 'exit 3'], all, protocol);
    await client.closed;
    expect(client.received[3]).toContain('exit code 3');
  });

  it('an unknown protocol is refused (403)', async () => {
    await expect(atKubelet(['true'], all, 'v9.channel.k8s.io')).rejects.toThrow('403');
  });
});

it('a handshake without a key is refused (400)', async () => {
  const socket = connect(Number(gateway.host.split(':')[1]), '127.0.0.1');
  const head = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Protocol: v5.channel.k8s.io', 'Host: x'];
  socket.write([`GET ${pathOf(['true'], 'output=1')} HTTP/1.1`, ...head, '', ''].join('\r\n'));
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1.1 400 /);
  socket.destroy();
  await everythingEnds();
});
