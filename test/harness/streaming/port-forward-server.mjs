// The server side of port-forward, over SPDY and WebSocket, as in a container runtime.
import {
  Channels,
  SpdyConnection,
  acceptWebSocket,
  isWebSocketRequest,
  requestedSubprotocols,
  systemClock,
} from './built.mjs';
import { acceptSpdy, refuse } from './handshake.mjs';

const webSocketProtocols = ['v4.channel.k8s.io', 'v4.base64.channel.k8s.io'];
const streamCreationMsMax = 30_000;

/**
 * Serves port-forward. `connect(port)` returns a promise of a connection; it is called for each pair of streams, or once for
 * each of `ports` over a WebSocket.
 */
export async function servePortForward({ request, socket, head, ports, connect }) {
  if (isWebSocketRequest(request)) return serveWebSocket({ request, socket, head, ports, connect });
  if (acceptSpdy({ request, socket, head }, ['portforward.k8s.io']) === undefined) return undefined;
  const pairs = new Map();
  const connection = new SpdyConnection(socket, {
    clock: systemClock,
    isServer: true,
    onStream(stream) {
      const type = stream.headers.get('streamtype');
      const port = stream.headers.get('port') ?? '';
      if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65_535 || !['error', 'data'].includes(type)) return false;
      // Old clients send no id: their streams of a connection follow each other.
      const id = stream.headers.get('requestid') ?? String(type === 'error' ? stream.id : stream.id - 2);
      stream.on('error', () => undefined);
      const pair = pairs.get(id) ?? {};
      if (pair[type]) return false;
      pair[type] = stream;
      pairs.set(id, pair);
      const late = setTimeout(() => pairs.get(id) === pair && pairs.delete(id), streamCreationMsMax);
      late.unref();
      if (pair.error && pair.data) {
        clearTimeout(late);
        pairs.delete(id);
        queueMicrotask(() => void forward(pair.data, pair.error, Number(port), connect));
      }
      return true;
    },
  });
  return connection.closed;
}

async function forward(data, error, port, connect) {
  error.resume();
  let target;
  try {
    target = await connect(port);
  } catch (cause) {
    error.end(`error forwarding port ${port} to pod: ${cause.message}`);
    // Both streams are reset, so that the client begins anew.
    error.once('finish', () => {
      data.destroy();
      error.destroy();
    });
    return;
  }
  target.on('error', () => data.destroy());
  data.once('reset', () => target.destroy());
  data.once('close', () => target.destroy());
  data.pipe(target);
  target.pipe(data);
  target.once('close', () => {
    if (!data.writableEnded) data.end();
    error.end();
  });
}

async function serveWebSocket({ request, socket, head, ports, connect }) {
  const requested = requestedSubprotocols(request);
  const protocol = requested.find((one) => webSocketProtocols.includes(one));
  if (requested.length > 0 && protocol === undefined) return refuse(socket, 403);
  const webSocket = await acceptWebSocket({ request, head, take: () => socket }, protocol ?? '');
  if (!webSocket) return undefined;
  const channels = new Channels(webSocket, {
    clock: systemClock,
    isBase64: protocol?.includes('base64') ?? false,
    hasCloseSignal: false,
    received: ports.map((_port, i) => i * 2),
    channels: ports.length * 2,
  });
  const done = ports.map(async (port, i) => {
    const bytes = Buffer.alloc(2);
    bytes.writeUInt16LE(port);
    channels.send(i * 2, bytes);
    channels.send(i * 2 + 1, bytes);
    try {
      const target = await connect(port);
      target.on('error', () => undefined);
      channels.input(i * 2).pipe(target);
      target.pipe(channels.output(i * 2));
      void channels.closed.then(() => target.destroy());
      await new Promise((resolve) => target.once('close', resolve));
    } catch (error) {
      channels.send(i * 2 + 1, Buffer.from(`error forwarding port ${port} to pod: ${error.message}`));
    }
  });
  await Promise.all(done);
  channels.close();
  return channels.closed;
}
