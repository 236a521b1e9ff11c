import { isHttp2Response, type AnyRequest, type AnyResponse } from './raw-messages.js';

/** Requests with `Expect: 100-continue` whose client still waits for the word to send the body. */
const waiting = new WeakMap<AnyRequest, AnyResponse>();

/** The client is asked for the body when something reads it, as Go does: a refused request never sends it. */
export function continueWhenRead(request: AnyRequest, response: AnyResponse): void {
  waiting.set(request, response);
  // Without that word nobody knows whether the next bytes are the body or another request.
  if (!isHttp2Response(response)) response.shouldKeepAlive = false;
}

export function askForBody(request: AnyRequest): void {
  if (request.headers.expect === undefined) return;
  const response = waiting.get(request);
  if (!response || response.headersSent) return;
  waiting.delete(request);
  if (!isHttp2Response(response)) response.shouldKeepAlive = true;
  response.writeContinue();
}
