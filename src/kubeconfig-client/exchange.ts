import { request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Connection } from './connections.js';
import { ClientError } from './client-error.js';

interface Exchange {
  readonly method: string;
  readonly server: URL;
  /** Path and query, encoded. */
  readonly path: string;
  readonly isRepeatable: boolean;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer | undefined;
  readonly signal: AbortSignal;
}

/** Sends a request; resolves with the head of its answer. Repeats a request, if it may, whose idle connection was just closed. */
export async function exchange(connection: Connection, request: Exchange): Promise<IncomingMessage> {
  for (;;) {
    const call = send(connection, request);
    try {
      return await call.answer;
    } catch (error) {
      if (!request.isRepeatable || !call.request?.reusedSocket || request.signal.aborted) throw error;
    }
  }
}

function send(connection: Connection, { server, method, path, headers, body, signal }: Exchange) {
  const start = server.protocol === 'http:' ? requestHttp : requestHttps;
  let request: ClientRequest | undefined;
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    request = start(
      {
        agent: connection.agent,
        host: server.hostname.replace(/^\[|\]$/g, ''),
        ...(server.port !== '' && { port: server.port }),
        method,
        path,
        headers: { ...headers, ...(body && { 'Content-Length': body.length }) },
        signal,
      },
      resolve,
    );
    request.on('error', reject);
    request.end(body);
  });
  return { request, answer };
}

/** Reads a body of limited size. `subject` begins the message: `GET https://host/path`. */
export async function readBody(message: IncomingMessage, bytesMax: number, subject: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    length += chunk.length;
    // Leaving the loop closes the connection.
    if (length > bytesMax) {
      throw new ClientError('TooLarge', `${subject}: the answer has more than ${bytesMax} bytes; request less of it`);
    }
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

/** Yields the lines of a body, each of limited length. */
export async function* readLines(message: IncomingMessage, bytesMax: number, subject: string): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let length = 0;
  for await (let chunk of message as AsyncIterable<Buffer>) {
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10)) {
      yield Buffer.concat([...chunks, chunk.subarray(0, end)]);
      chunks = [];
      length = 0;
      chunk = chunk.subarray(end + 1);
    }
    length += chunk.length;
    if (length > bytesMax) throw new ClientError('TooLarge', `${subject}: an event has more than ${bytesMax} bytes`);
    if (chunk.length > 0) chunks.push(chunk);
  }
}
