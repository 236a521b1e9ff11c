/** Authenticates a request. Both fields are absent for anonymous requests. */
export interface Credentials {
  readonly token: string | undefined;
  readonly clientCertificate: KeyPair | undefined;
}

/** PEM. */
export interface KeyPair {
  readonly certificate: Buffer;
  readonly key: Buffer;
}

export interface CredentialSource {
  get(): Promise<Credentials>;
  /** Reports an answer 401. True if the next get() may return other credentials. */
  reject(credentials: Credentials): boolean;
  /** Ends running work. */
  close(): void;
}

export function areEqual(one: Credentials, other: Credentials): boolean {
  return one.token === other.token && areEqualPairs(one.clientCertificate, other.clientCertificate);
}

export function areEqualPairs(one: KeyPair | undefined, other: KeyPair | undefined): boolean {
  if (!one || !other) return one === other;
  return one.certificate.equals(other.certificate) && one.key.equals(other.key);
}
