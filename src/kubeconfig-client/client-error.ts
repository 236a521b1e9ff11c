/**
 * Reasons for the failure of a call:
 *   Kubeconfig   the kubeconfig, or a file that it names, cannot be used
 *   Credentials  a credential plug-in gave no credentials
 *   Connection   no complete answer was received
 *   Timeout      no complete answer was received in time
 *   TooLarge     the answer exceeds the limit
 *   Status       the server answered with an error
 */
type ClientErrorCode = 'Kubeconfig' | 'Credentials' | 'Connection' | 'Timeout' | 'TooLarge' | 'Status';

interface ClientErrorOptions {
  readonly cause?: unknown;
  /** HTTP status, for code `Status`. */
  readonly status?: number;
  /** Reason of the Status object: `NotFound`. */
  readonly reason?: string;
}

/** The error of all functions of the client. Messages name the file or the host, and never contain credentials. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly status: number | undefined;
  readonly reason: string | undefined;

  constructor(
    readonly code: ClientErrorCode,
    message: string,
    { cause, status, reason }: ClientErrorOptions = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.reason = reason;
  }
}

/** Returns the message of an error of Node without the path or address that callers add: `there is no such file`. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error);
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  if (code === 'EISDIR') return 'it is a directory';
  return hasText(error, 'message') ? error.message : String(error);
}

/** Returns the code of an error of Node: `ENOENT`. */
export function codeOf(error: unknown): string {
  return hasText(error, 'code') ? error.code : '';
}

function hasText<K extends string>(error: unknown, field: K): error is Record<K, string> {
  return typeof error === 'object' && error !== null && typeof (error as Record<K, unknown>)[field] === 'string';
}
