/** The gRPC status codes that are used. */
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

/** Names of the status codes in Go, by number. */
const codeNames = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
];

/** Returns the name of a status code; `Unknown` for numbers that gRPC does not define. */
export function grpcCodeName(code: number): string {
  return codeNames[code] ?? 'Unknown';
}

/** A failed call: a status of the server, or a lost connection. */
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

/** The request was not sent, or the server did not process it. */
export class NotConnectedError extends Error {
  override readonly name = 'NotConnectedError';
}

/** The server's response violates the protocol. */
export class MalformedMessageError extends GrpcError {
  override readonly name = 'MalformedMessageError';
  constructor(details: string) {
    super(grpcStatus.internal, `malformed response: ${details}`);
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Returns the error in the trailers; undefined for success. */
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

/** The error for a response that is not gRPC, perhaps of a proxy. */
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
  return new GrpcError(codes[status ?? 0] ?? grpcStatus.unknown, `HTTP response with status ${status} instead of gRPC`);
}

/** The error for a stream that was reset with RST_STREAM. */
export function errorOfReset(code: number | undefined): Error {
  const refusedStream = 7;
  const cancel = 8;
  const enhanceYourCalm = 11;
  const inadequateSecurity = 12;
  // HTTP/2 guarantees that a refused stream was not processed (RFC 9113, 8.7).
  if (code === refusedStream) return new NotConnectedError('the server refused the stream');
  const codes: Readonly<Record<number, number>> = {
    [cancel]: grpcStatus.cancelled,
    [enhanceYourCalm]: grpcStatus.resourceExhausted,
    [inadequateSecurity]: grpcStatus.permissionDenied,
  };
  return new GrpcError(codes[code ?? 0] ?? grpcStatus.internal, `the stream was reset with code ${code}`);
}
