/** Error of a key, a certificate or a TLS setting. The message tells the operator what to do. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

export function reasonOf(error: unknown): string {
  const message = (error as { message?: unknown } | undefined)?.message;
  return typeof message === 'string' ? message : String(error);
}
