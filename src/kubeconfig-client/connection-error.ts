import { ClientError, codeOf, reasonOf } from './client-error.js';

const missingNamesCode = 'MISSING_SUBJECT_ALT_NAME';

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
  [missingNamesCode]: 'the certificate of the server has no subjectAltName; issue one that has the names of the server',
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
    : certificateFlaw(error) === 'SHA-1'
      ? 'a certificate of the server is signed with SHA-1; issue one with SHA-256'
      : code.startsWith('ERR_SSL_')
        ? `TLS failed (${code}); check the client certificate and server in the kubeconfig`
        : (advice[code] ?? reasonOf(error));
  return new ClientError('Connection', `${subject}: ${text}`, { cause: error });
}

/** Returns the error for a server whose certificate names it in the common name only, which Node would accept. */
export function missingNamesError(): Error {
  return Object.assign(new Error('the certificate of the server has no subjectAltName'), { code: missingNamesCode });
}

export type CertificateFlaw = 'missing SAN' | 'SHA-1';

/** Returns the flaw in the certificate of the server for which a connection failed, if it is one that metrics count. */
export function certificateFlaw(error: unknown): CertificateFlaw | undefined {
  const reason = error instanceof ClientError ? error.cause : error;
  if (codeOf(reason) === missingNamesCode) return 'missing SAN';
  return /digest algorithm too weak/i.test(reasonOf(reason)) ? 'SHA-1' : undefined;
}
