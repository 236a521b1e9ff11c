import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';

export type AnyRequest = IncomingMessage | Http2ServerRequest;
export type AnyResponse = ServerResponse | Http2ServerResponse;

export function isHttp2Request(request: AnyRequest): request is Http2ServerRequest {
  return 'stream' in request;
}

export function isHttp2Response(response: AnyResponse): response is Http2ServerResponse {
  return 'stream' in response;
}
