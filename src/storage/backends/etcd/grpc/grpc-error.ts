/** The status codes of gRPC that mean something to us. */
export const grpcStatus = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  aborted: 10,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  dataLoss: 15,
  unauthenticated: 16,
} as const;

/** How a call ended, if not well: by the server's word, or by what became of the line. */
export class GrpcError extends Error {
  override readonly name: string = 'GrpcError';
  constructor(
    readonly code: number,
    readonly details: string,
    options?: ErrorOptions,
  ) {
    super(`${code}: ${details}`, options);
  }
}

/** No request was sent, or the server never looked at it. */
export class NotConnectedError extends Error {
  override readonly name = 'NotConnectedError';
}

/** What the server sent is not what its protocol says. */
export class MalformedMessageError extends GrpcError {
  override readonly name = 'MalformedMessageError';
  constructor(details: string) {
    super(grpcStatus.internal, `malformed answer: ${details}`);
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What trailers say: undefined means that all went well. */
export function errorOfTrailers(trailers: Headers): GrpcError | undefined {
  const status = String(trailers['grpc-status']);
  if (status === '0') return undefined;
  const code = /^[0-9]{1,3}$/.test(status) ? Number(status) : grpcStatus.unknown;
  return new GrpcError(code, decodedMessage(String(trailers['grpc-message'] ?? '')));
}

function decodedMessage(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** For an answer that did not come from a gRPC server, perhaps from a proxy before it. */
export function errorOfHttpStatus(status: number | undefined): GrpcError {
  const codes: Readonly<Record<number, number>> = {
    400: grpcStatus.internal,
    401: grpcStatus.unauthenticated,
    403: grpcStatus.permissionDenied,
    404: grpcStatus.unimplemented,
    429: grpcStatus.unavailable,
    502: grpcStatus.unavailable,
    503: grpcStatus.unavailable,
    504: grpcStatus.unavailable,
  };
  return new GrpcError(codes[status ?? 0] ?? grpcStatus.unknown, `an answer of HTTP, not of gRPC: ${status}`);
}

/** For a stream that ended by RST_STREAM with this code. */
export function errorOfReset(code: number | undefined): Error {
  const refusedStream = 7;
  const cancel = 8;
  const enhanceYourCalm = 11;
  const inadequateSecurity = 12;
  // HTTP/2 promises that such a stream was not looked at (RFC 9113, 8.7).
  if (code === refusedStream) return new NotConnectedError('the call was not taken');
  const codes: Readonly<Record<number, number>> = {
    [cancel]: grpcStatus.cancelled,
    [enhanceYourCalm]: grpcStatus.resourceExhausted,
    [inadequateSecurity]: grpcStatus.permissionDenied,
  };
  return new GrpcError(codes[code ?? 0] ?? grpcStatus.internal, `the stream was reset with code ${code}`);
}
