import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';

type Raw = ServerResponse | Http2ServerResponse;

/** Less than what a connection takes before it asks its writers to wait (16 KiB), with room for the head. */
const wholeBytesMax = 12 * 1024;
const lastBytes = 4 * 1024;

/**
 * Ends an answer with its last bytes. Over HTTP/1.1 a client sends its next request when it has the whole answer, and
 * Node stops the parser of a connection that still has much to write at that moment: what it then reads of a request
 * of several packets is lost, and the request is refused as malformed. So the end of a large answer waits until what
 * comes before it has been written.
 */
export function unhurriedEnd(raw: Raw, bytes: Buffer): void {
  if (bytes.length <= wholeBytesMax || raw.req.httpVersionMajor !== 1) {
    raw.end(bytes);
    return;
  }
  (raw as ServerResponse).write(bytes.subarray(0, -lastBytes), (error) => {
    if (!error && !raw.destroyed) raw.end(bytes.subarray(-lastBytes));
  });
}

/** Resolves when the connection takes more, or never will. */
export function drained(raw: Raw): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      raw.off('drain', done);
      raw.off('close', done);
      resolve();
    };
    raw.on('drain', done);
    raw.on('close', done);
  });
}
