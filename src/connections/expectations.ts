import { isHttp2Response, type AnyRequest, type AnyResponse } from './raw-messages.js';

/** Requests with `Expect: 100-continue` that have not been answered with 100 Continue yet. */
const waiting = new WeakMap<AnyRequest, AnyResponse>();

/** Defers 100 Continue until the body is read, as Go does, so that the client of a rejected request never sends it. */
export function continueWhenRead(request: AnyRequest, response: AnyResponse): void {
  waiting.set(request, response);
  // Without 100 Continue the next bytes may be the body or another request: the connection cannot be reused.
  if (!isHttp2Response(response)) response.shouldKeepAlive = false;
}

/** Sends 100 Continue if the client waits for it. */
export function askForBody(request: AnyRequest): void {
  if (request.headers.expect === undefined) return;
  const response = waiting.get(request);
  if (!response || response.headersSent) return;
  waiting.delete(request);
  if (!isHttp2Response(response)) response.shouldKeepAlive = true;
  response.writeContinue();
}
