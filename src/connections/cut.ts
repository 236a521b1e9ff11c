import { constants } from 'node:http2';
import { isHttp2Response, type AnyResponse } from './raw-messages.js';

/**
 * Ends an answer whose head is out, so that its client knows that the rest is missing: the end of the connection by
 * HTTP/1.1, a reset of the stream by HTTP/2. A stream that is destroyed without a code is reset with NO_ERROR, which
 * some clients take for the end of the body.
 */
export function cutAnswer(response: AnyResponse): void {
  if (!isHttp2Response(response)) {
    response.destroy();
    return;
  }
  const { stream } = response;
  if (stream.destroyed) return;
  stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  // The stream of a client that takes nothing would wait for ever for what was written before.
  response.destroy();
}

/** True if the client has, as far as the server can know, all of the answer or has gone. */
export function isAnswerOver(response: AnyResponse): boolean {
  if (isHttp2Response(response)) return response.stream.destroyed || response.stream.writableFinished;
  return response.destroyed || response.writableFinished;
}
