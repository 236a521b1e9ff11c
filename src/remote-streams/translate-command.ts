import type { Clock } from '../std/clock.js';
import { runCommand } from './command/command-client.js';
import { encodeStatus, internalError, type CommandStatus } from './command/command-status.js';
import { channel, channelCount, closableProtocol, commandProtocols, type CommandStreams } from './command/protocols.js';
import { upgradeToSpdy, UpgradeRefusedError, type ConnectServer } from './spdy-upgrade.js';
import { SpdyConnection } from './spdy/spdy-connection.js';
import { isWebSocketRequest, requestedSubprotocols, type UpgradeRequest } from './upgrade-request.js';
import { acceptWebSocket } from './websocket/accept-websocket.js';
import { Channels } from './websocket/channels.js';

interface TranslationOptions {
  readonly clock: Clock;
  readonly streams: CommandStreams;
  readonly connect: ConnectServer;
  /** Time without a message in either direction after which both connections are closed. */
  readonly idleTimeoutMs: number;
}

/** As kube-apiserver. */
const pingMs = 5_000;

/**
 * True for exec and attach over a WebSocket on which the client can close stdin. Kubelets before 1.36 and container runtimes
 * do not know that protocol: it is translated to SPDY. Requests for older protocols are tunnelled unchanged.
 */
export const isTranslatedCommand = (request: UpgradeRequest['request']): boolean =>
  isWebSocketRequest(request) && requestedSubprotocols(request).includes(closableProtocol);

/**
 * Connects a WebSocket of exec or attach with a server that speaks SPDY. The WebSocket is accepted first, as kube-apiserver
 * does, so failures of the server are told on its error channel. Resolves when both connections have ended.
 */
export async function translateCommand(upgrade: UpgradeRequest, options: TranslationOptions): Promise<void> {
  const { clock, streams, idleTimeoutMs } = options;
  const webSocket = await acceptWebSocket(upgrade, closableProtocol);
  if (!webSocket) return;
  const channels = new Channels(webSocket, {
    clock,
    isBase64: false,
    hasCloseSignal: true,
    received: [channel.resize, ...(streams.stdin ? [channel.stdin] : [])],
    channels: channelCount,
    idleMsMax: idleTimeoutMs,
  });
  // Tells the client that the connection is established.
  const firstOutput = streams.stdout ? channel.stdout : streams.stderr ? channel.stderr : channel.error;
  channels.send(firstOutput, Buffer.alloc(0));
  const status = await commandStatus(channels, options);
  channels.send(channel.error, encodeStatus(status));
  channels.close();
  await channels.closed;
}

async function commandStatus(
  channels: Channels,
  { clock, streams, connect }: TranslationOptions,
): Promise<CommandStatus> {
  let connection: SpdyConnection | undefined;
  const gone = new AbortController();
  void channels.closed.then(() => {
    gone.abort();
    connection?.close();
  });
  try {
    const { socket, protocol } = await upgradeToSpdy(connect, commandProtocols, gone.signal);
    connection = new SpdyConnection(socket, { clock, isServer: false, pingMs });
    const resize = channels.input(channel.resize);
    if (!streams.tty) resize?.resume();
    return await runCommand(connection, protocol, {
      stdin: channels.input(channel.stdin),
      stdout: streams.stdout ? channels.output(channel.stdout) : undefined,
      stderr: streams.stderr && !streams.tty ? channels.output(channel.stderr) : undefined,
      resize: streams.tty ? resize : undefined,
    });
  } catch (error) {
    return internalError(failureText(error));
  } finally {
    connection?.close();
  }
}

function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof UpgradeRefusedError)) return `error sending request: ${error.message}`;
  const isRedirect = error.code >= 300 && error.code < 400;
  return isRedirect ? 'error sending request: redirect not allowed' : error.message;
}
