import { isIP } from 'node:net';
import { authorityOf, type ForwardTarget } from './forward-target.js';

/**
 * The step that failed: `address` is not allowed, `dial` made no connection, `request` cannot be sent as HTTP, `answer`
 * did not arrive or is malformed, `gone` is a client that has left.
 */
type FailedStep = 'address' | 'dial' | 'request' | 'answer' | 'gone';

/** A request that was not forwarded, or got no answer. Its message is that of a Go client. */
export class ForwardError extends Error {
  override readonly name = 'ForwardError';
  constructor(
    readonly step: FailedStep,
    message: string,
    /** True if the certificate of the server was not accepted. */
    readonly isUntrusted = false,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

export const addressNotAllowed = 'address not allowed';
/** Heads of answers; larger ones are refused. A server of Kubernetes sends less than 2 KiB. */
export const headBytesMax = 128 * 1024;
export const headTooLarge = `net/http: server response headers exceeded ${headBytesMax} bytes; aborted`;

const socketReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  EADDRNOTAVAIL: 'connect: cannot assign requested address',
  EACCES: 'connect: permission denied',
  EINVAL: 'connect: invalid argument',
  ETIMEDOUT: 'i/o timeout',
};
const untrustedCodes =
  /^(UNABLE_TO_|(DEPTH_ZERO_)?SELF_SIGNED_CERT|CERT_(UNTRUSTED|SIGNATURE_FAILURE|REVOKED|NOT_YET_VALID|HAS_EXPIRED)|ERR_TLS_CERT_ALTNAME_INVALID|INVALID_(CA|PURPOSE))/;

const codeOf = (error: unknown): string => textIn(error, 'code');

/** Reads a text by its name: errors of another realm, as in tests, are not instances of Error. */
function textIn(error: unknown, name: 'code' | 'message'): string {
  const value = typeof error === 'object' && error !== null ? (error as Record<string, unknown>)[name] : undefined;
  return typeof value === 'string' ? value : '';
}

/** Converts an error of Node. `isConnected` is true if the request could be sent. */
export function forwardError(error: unknown, target: ForwardTarget, isConnected: boolean): ForwardError {
  if (error instanceof ForwardError) return error;
  const code = codeOf(error);
  if (untrustedCodes.test(code)) {
    const message = `tls: failed to verify certificate: x509: ${certificateReason(code, target)}`;
    return new ForwardError('dial', message, true, error);
  }
  if (!isConnected) return new ForwardError('dial', dialReason(error, code, target), false, error);
  return new ForwardError('answer', answerReason(error, code), false, error);
}

function dialReason(error: unknown, code: string, target: ForwardTarget): string {
  const { host } = target;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${host}: no such host`;
  if (code.startsWith('ERR_SSL_')) return tlsAlert(code);
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'EOF';
  const where = isIP(host) ? `dial tcp ${authorityOf(target)}` : `dial tcp: ${authorityOf(target)}`;
  return `${where}: ${socketReasons[code] ?? reasonOf(error)}`;
}

/** Names the alert with which a server ended the handshake as Go does, as far as OpenSSL uses the same words. */
function tlsAlert(code: string): string {
  const alert = /^ERR_SSL_(?:TLSV1|TLSV13|SSLV3)_ALERT_(.+)$/.exec(code)?.[1];
  return `remote error: tls: ${alert?.toLowerCase().replaceAll('_', ' ') ?? code}`;
}

function certificateReason(code: string, { host, tls }: ForwardTarget): string {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `certificate is not valid for ${tls?.serverName ?? host}`;
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return 'certificate has expired or is not yet valid';
  }
  return 'certificate signed by unknown authority';
}

function answerReason(error: unknown, code: string): string {
  if (code === 'HPE_HEADER_OVERFLOW') return headTooLarge;
  if (code.startsWith('HPE_')) return `malformed HTTP response: ${code}`;
  if (code.startsWith('ERR_SSL_')) return tlsAlert(code);
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'EOF';
  return reasonOf(error);
}

const reasonOf = (error: unknown): string => textIn(error, 'message') || String(error);
