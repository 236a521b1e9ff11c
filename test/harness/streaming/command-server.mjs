// The server side of exec and attach, over SPDY and WebSocket, as in a container runtime. Imports the built sources.
import { finished } from 'node:stream/promises';
import {
  Channels,
  SpdyConnection,
  acceptWebSocket,
  channel,
  channelCount,
  encodeStatus,
  hasStatus,
  hasTerminalSizes,
  internalError,
  isWebSocketRequest,
  requestedSubprotocols,
  success,
  systemClock,
} from './built.mjs';
import { acceptSpdy, refuse } from './handshake.mjs';

const spdyProtocols = ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'];
const webSocketProtocols = ['v4.channel.k8s.io', 'v4.base64.channel.k8s.io', 'channel.k8s.io', 'base64.channel.k8s.io'];
const streamCreationMsMax = 30_000;

/**
 * Serves one exec or attach. `run` gets the streams that the client asked for and returns the exit code; it throws if the
 * command could not be run. `signal` of its argument is aborted when the client leaves.
 */
export async function serveCommand({ request, socket, head, streams, run }) {
  const gone = new AbortController();
  const session = isWebSocketRequest(request)
    ? await openWebSocket({ request, socket, head, streams })
    : await openSpdy({ request, socket, head, streams });
  if (!session) return;
  void session.closed.then(() => gone.abort());
  let status;
  try {
    const exitCode = await run({ ...session.io, tty: streams.tty, signal: gone.signal });
    status = exitCode === 0 ? success : exitCodeStatus(exitCode);
  } catch (error) {
    status = internalError(`error executing command in container: ${error.message}`);
  }
  await session.finish(status);
}

function exitCodeStatus(exitCode) {
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: command terminated with exit code ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: `${exitCode}` }] },
  };
}

/** Ends a stream, and resolves when everything has been written. */
function endOf(stream) {
  stream.end();
  return finished(stream, { readable: false }).catch(() => undefined);
}

/** The message on the error channel: before v4 it is text, and nothing after a success. */
function statusMessage(status, protocol) {
  if (hasStatus(protocol)) return encodeStatus(status);
  return Buffer.from(status.status === 'Success' ? '' : status.message);
}

async function openWebSocket({ request, socket, head, streams }) {
  const requested = requestedSubprotocols(request);
  const protocol = requested.find((one) => webSocketProtocols.includes(one));
  if (requested.length > 0 && protocol === undefined) return refuse(socket, 403);
  const webSocket = await acceptWebSocket({ request, head, take: () => socket }, protocol ?? '');
  if (!webSocket) return undefined;
  const channels = new Channels(webSocket, {
    clock: systemClock,
    isBase64: protocol?.includes('base64') ?? false,
    hasCloseSignal: false,
    received: [channel.resize, ...(streams.stdin ? [channel.stdin] : [])],
    channels: channelCount,
  });
  channels.send(streams.stdout ? channel.stdout : streams.stderr ? channel.stderr : channel.error, Buffer.alloc(0));
  const stdout = streams.stdout ? channels.output(channel.stdout) : undefined;
  const stderr = streams.stderr ? channels.output(channel.stderr) : undefined;
  return {
    closed: channels.closed,
    io: {
      stdin: channels.input(channel.stdin),
      stdout,
      stderr,
      resize: channels.input(channel.resize),
    },
    async finish(status) {
      await Promise.all([stdout, stderr].flatMap((stream) => (stream ? endOf(stream) : [])));
      const message = statusMessage(status, (protocol ?? '').replace('base64.', ''));
      if (message.length > 0) channels.send(channel.error, message);
      channels.close();
      await channels.closed;
    },
  };
}

async function openSpdy({ request, socket, head, streams }) {
  const protocol = acceptSpdy({ request, socket, head }, spdyProtocols);
  if (protocol === undefined) return undefined;
  const types = [
    'error',
    ...['stdin', 'stdout', 'stderr'].filter((type) => streams[type]),
    ...(streams.tty && hasTerminalSizes(protocol) ? ['resize'] : []),
  ];
  const opened = new Map();
  const connection = await new Promise((resolve) => {
    const result = new SpdyConnection(socket, {
      clock: systemClock,
      isServer: true,
      onStream(stream) {
        const type = stream.headers.get('streamtype');
        if (!types.includes(type) || opened.has(type)) return false;
        opened.set(type, stream);
        stream.on('error', () => undefined);
        if (opened.size === types.length) queueMicrotask(() => resolve(result));
        return true;
      },
    });
    const late = setTimeout(() => result.close(), streamCreationMsMax);
    void result.closed.then(() => {
      clearTimeout(late);
      resolve(undefined);
    });
  });
  if (!connection) return undefined;
  return {
    closed: connection.closed,
    io: {
      stdin: opened.get('stdin'),
      stdout: opened.get('stdout'),
      stderr: opened.get('stderr'),
      resize: opened.get('resize'),
    },
    async finish(status) {
      const outputs = ['stdout', 'stderr', 'error'].flatMap((type) => opened.get(type) ?? []);
      opened.get('error').write(statusMessage(status, protocol));
      await Promise.all(outputs.map(endOf));
      connection.close();
      await connection.closed;
    },
  };
}
