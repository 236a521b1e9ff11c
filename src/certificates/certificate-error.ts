/** What is wrong with a key, a certificate or a TLS setting, in words for the person who has to put it right. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

export function reasonOf(error: unknown): string {
  const message = (error as { message?: unknown } | undefined)?.message;
  return typeof message === 'string' ? message : String(error);
}
