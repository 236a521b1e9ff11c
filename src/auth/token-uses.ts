/**
 * Counts authentications with service account tokens, for metrics. As in kube-apiserver, requests for which the result
 * of their token is cached are not counted.
 */
export class TokenUses {
  /** Tokens of Pods before the time at which they should have been renewed, and after it. */
  valid = 0;
  stale = 0;
  /** Tokens in Secrets: all of them, and those whose signature, Secret and ServiceAccount were verified, by their origin. */
  inSecrets = 0;
  inManualSecrets = 0;
  inGeneratedSecrets = 0;
  /** Tokens in Secrets that are labeled as invalid because they were not used for long. */
  invalidated = 0;
}
