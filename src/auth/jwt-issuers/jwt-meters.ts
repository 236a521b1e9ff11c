/** Receives what happens in the authentication of JSON Web Tokens, to be counted. */
export interface JwtMeters {
  readonly nowMs: number;
  /** A token of the issuer was verified, or not, since `beginMs`. */
  tokenChecked(issuer: string, result: 'success' | 'failure', beginMs: number): void;
  /** The keys of the issuer were fetched; `body` is the document, undefined if that failed. */
  keysFetched(issuer: string, body: Buffer | undefined): void;
  issuerRemoved(issuer: string): void;
  /** The text of the configuration in use. */
  configurationUsed(text: string): void;
  /** A changed file was applied, or could not be. */
  configurationReloaded(result: 'success' | 'failure'): void;
}
