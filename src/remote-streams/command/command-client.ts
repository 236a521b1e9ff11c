import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { SpdyConnection } from '../spdy/spdy-connection.js';
import type { SpdyStream } from '../spdy/spdy-stream.js';
import { internalError, receivedStatus, type CommandStatus } from './command-status.js';
import { hasTerminalSizes } from './protocols.js';

/** The message on an error stream; larger ones are no Status. */
const statusBytesMax = 64 * 1024;

/** The ends of the streams of a command, at its client. */
interface CommandEnds {
  readonly stdin?: Readable | undefined;
  readonly stdout?: Writable | undefined;
  readonly stderr?: Writable | undefined;
  /** JSON documents with terminal sizes, for a terminal. */
  readonly resize?: Readable | undefined;
}

/**
 * Runs exec or attach on a connection to a kubelet or container runtime, and returns its outcome when all output has been
 * written. Ends the outputs.
 */
export async function runCommand(
  connection: SpdyConnection,
  protocol: string,
  { stdin, stdout, stderr, resize }: CommandEnds,
): Promise<CommandStatus> {
  const create = (type: string) => connection.createStream(new Map([['streamtype', type]]));
  const errorStream = await create('error');
  const stdinStream = stdin && (await create('stdin'));
  const stdoutStream = stdout && (await create('stdout'));
  const stderrStream = stderr && (await create('stderr'));
  const resizeStream = resize && hasTerminalSizes(protocol) ? await create('resize') : undefined;
  const message = readAll(errorStream, statusBytesMax);
  if (stdin && stdinStream) sendInput(stdin, stdinStream);
  if (resize && resizeStream) sendInput(resize, resizeStream);
  else resize?.resume();
  await Promise.all([receiveOutput(stdoutStream, stdout), receiveOutput(stderrStream, stderr)]);
  const bytes = await message;
  return bytes ? receivedStatus(bytes, protocol) : internalError(`the status has more than ${statusBytesMax} bytes`);
}

/** Forwards input until one side ends. What comes after the server has closed the stream is discarded. */
function sendInput(input: Readable, stream: SpdyStream): void {
  input.pipe(stream);
  const stop = () => {
    input.unpipe(stream);
    input.resume();
    if (!stream.writableEnded) stream.end();
  };
  stream.once('end', stop);
  stream.once('close', stop);
  // Reads to the end, by which the server tells that it takes no more input; servers send no data on this stream.
  stream.resume();
}

async function receiveOutput(stream: SpdyStream | undefined, output: Writable | undefined): Promise<void> {
  if (!stream || !output) return;
  stream.pipe(output, { end: false });
  await finished(stream, { writable: false }).catch(() => undefined);
  if (!stream.writableEnded) stream.end();
  // Chunks may still wait for a client that reads slowly: the outcome, which ends the connection, must come after them.
  output.end();
  await finished(output, { readable: false }).catch(() => undefined);
}

/** Returns undefined if there are more bytes; the rest is discarded. */
async function readAll(stream: SpdyStream, bytesMax: number): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  stream.on('data', (part: Buffer) => {
    length += part.length;
    if (length <= bytesMax) parts.push(part);
  });
  await finished(stream, { writable: false }).catch(() => undefined);
  return length <= bytesMax ? Buffer.concat(parts) : undefined;
}
