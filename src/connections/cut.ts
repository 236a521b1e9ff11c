import { constants } from 'node:http2';
import { isHttp2Response, type AnyResponse } from './raw-messages.js';

/**
 * Aborts a response whose head has been sent, so that the client sees that it is incomplete: closes the connection
 * (HTTP/1.1) or resets the stream (HTTP/2). destroy() alone resets with NO_ERROR, which some clients take for the end
 * of the body.
 */
export function cutAnswer(response: AnyResponse): void {
  if (!isHttp2Response(response)) {
    response.destroy();
    return;
  }
  const { stream } = response;
  if (stream.destroyed) return;
  stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  // close() waits for data written before, which a client that reads nothing never accepts.
  response.destroy();
}

/** True if the response was sent completely, or its connection or stream is closed. */
export function isAnswerOver(response: AnyResponse): boolean {
  if (isHttp2Response(response)) return response.stream.destroyed || response.stream.writableFinished;
  return response.destroyed || response.writableFinished;
}
