import { certificateFlaw } from '../kubeconfig-client/connection-error.js';
import { codeOf } from '../kubeconfig-client/client-error.js';
import { MalformedResponse, ResponseTooLarge } from './response-reader.js';

/**
 * A call of a webhook that has no usable answer. Messages are those of Go's client, which clients know. They never contain
 * text of the answer: the URL may name a server that is not a webhook.
 */
export class WebhookCallError extends Error {
  override readonly name = 'WebhookCallError';

  constructor(
    message: string,
    /** The status that kube-apiserver has in its metrics for this error. */
    readonly code: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

interface CallSubject {
  /** The URL as the configuration names it, with the timeout. */
  readonly url: string;
  /** The name that the certificate must have. */
  readonly serverName: string;
  /** `10.0.0.1:8443`; the host of the URL if it has no address. */
  readonly address: string;
}

const unavailable = 503;

/** Codes of OpenSSL for a certificate whose CA is unknown. */
const untrusted =
  /^(UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(_LOCALLY)?)|(DEPTH_ZERO_)?SELF_SIGNED_CERT(_IN_CHAIN)?|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE)$/;

/** Converts an error of the connection. */
export function transportError(error: unknown, { url, serverName, address }: CallSubject): WebhookCallError {
  const at = `Post "${url}": `;
  if (error instanceof ResponseTooLarge) {
    return new WebhookCallError(`${at}the answer is too large`, unavailable, { cause: error });
  }
  const text = (): string => {
    if (error instanceof MalformedResponse) {
      return 'net/http: HTTP/1.x transport connection broken: malformed HTTP response';
    }
    const code = codeOf(error);
    const certificate = 'tls: failed to verify certificate: x509:';
    const flaw = certificateFlaw(error);
    if (flaw === 'missing SAN')
      return `${certificate} certificate relies on legacy Common Name field, use SANs instead`;
    if (flaw === 'SHA-1') return `${certificate} cannot verify signature: insecure algorithm SHA1-RSA`;
    if (untrusted.test(code)) return `${certificate} certificate signed by unknown authority`;
    switch (code) {
      case 'CERT_HAS_EXPIRED':
      case 'CERT_NOT_YET_VALID':
        return `${certificate} certificate has expired or is not yet valid`;
      case 'ERR_TLS_CERT_ALTNAME_INVALID':
        return `${certificate} certificate is not valid for ${serverName}`;
      case 'ECONNREFUSED':
        return `dial tcp ${address}: connect: connection refused`;
      case 'EHOSTUNREACH':
        return `dial tcp ${address}: connect: no route to host`;
      case 'ENETUNREACH':
        return `dial tcp ${address}: connect: network is unreachable`;
      case 'ETIMEDOUT':
        return `dial tcp ${address}: i/o timeout`;
      case 'ENOTFOUND':
      case 'EAI_AGAIN':
        return `dial tcp: lookup ${serverName}: no such host`;
      case 'ECONNRESET':
      case 'EPIPE':
        return 'EOF';
      default:
        return code.startsWith('ERR_SSL_')
          ? `remote error: tls: handshake failure (${code})`
          : `connection failed${code === '' ? '' : ` (${code})`}`;
    }
  };
  return new WebhookCallError(`${at}${text()}`, unavailable, { cause: error });
}

const textsOfStatus: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  403: 'unknown',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  406: 'the server was unable to respond with a content type that the client supports',
  409: 'the server reported a conflict',
  415: 'the body of the request was in an unknown format',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/** Returns the error of an answer with another status than 200 to 206. */
export function statusError(status: number): WebhookCallError {
  const text =
    textsOfStatus[status] ??
    (status >= 500
      ? 'an error on the server ("unknown") has prevented the request from succeeding'
      : `the server responded with the status code ${status} but did not return more information`);
  return new WebhookCallError(text, status);
}
