import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';

type Raw = ServerResponse | Http2ServerResponse;

/** Below the high-water mark of a connection (16 KiB), with room for the head. */
const wholeBytesMax = 12 * 1024;
const lastBytes = 4 * 1024;

/**
 * Ends a response with its last bytes, after the bytes before them have been flushed if there are many. An HTTP/1.1
 * client sends its next request once it has the whole response. If the connection then still has much to write, Node
 * pauses its parser and loses bytes of a request of several packets, which is refused as malformed. Calls `taken` when the
 * connection has taken all bytes.
 */
export function endAfterFlush(raw: Raw, bytes: Buffer, taken?: () => void): void {
  if (bytes.length <= wholeBytesMax || raw.req.httpVersionMajor !== 1) {
    raw.end(bytes, taken);
    return;
  }
  (raw as ServerResponse).write(bytes.subarray(0, -lastBytes), (error) => {
    if (!error && !raw.destroyed) raw.end(bytes.subarray(-lastBytes), taken);
  });
}

/** Resolves when the connection accepts more bytes, or is closed. */
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
