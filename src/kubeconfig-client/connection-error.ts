import { ClientError, codeOf, reasonOf } from './client-error.js';

/** Reasons by code of Node, each with what to do. */
const advice: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there; start the server, or correct server in the kubeconfig',
  ENOTFOUND: 'the host name is unknown; correct server in the kubeconfig',
  EAI_AGAIN: 'the host name could not be resolved; check the DNS of this machine',
  EHOSTUNREACH: 'the host cannot be reached; check the network',
  ENETUNREACH: 'the network cannot be reached; check the network',
  ETIMEDOUT: 'the host does not answer; check the network',
  ECONNRESET: 'the server closed the connection; send the request again',
  EPIPE: 'the server closed the connection; send the request again',
  CERT_HAS_EXPIRED: 'the certificate of the server has expired; renew it',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'the certificate of the server is for other names; correct server, or set tls-server-name, in the kubeconfig',
  ERR_UNESCAPED_CHARACTERS: 'the path contains characters that must be percent-encoded',
};
/** Codes of OpenSSL for a certificate whose CA is unknown. */
const untrusted =
  /^(UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(_LOCALLY)?)|(DEPTH_ZERO_)?SELF_SIGNED_CERT(_IN_CHAIN)?|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE)$/;

/** Converts an error of a connection. `subject` names the request and its host. */
export function connectionError(error: unknown, subject: string): ClientError {
  if (error instanceof ClientError) return error;
  const code = codeOf(error);
  const text = untrusted.test(code)
    ? 'the certificate of the server is not signed by certificate-authority of the kubeconfig; correct one of them'
    : code.startsWith('ERR_SSL_')
      ? `TLS failed (${code}); check the client certificate and server in the kubeconfig`
      : (advice[code] ?? reasonOf(error));
  return new ClientError('Connection', `${subject}: ${text}`, { cause: error });
}
