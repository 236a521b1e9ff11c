/** One webhook authorizer: an entry of AuthorizationConfiguration, or the flags --authorization-webhook-*. Checked. */
export interface WebhookAuthorizerConfiguration {
  /** Label of metrics; part of the reason of a denial. */
  readonly name: string;
  readonly authorizedTtlMs: number;
  readonly cacheAuthorizedRequests: boolean;
  readonly unauthorizedTtlMs: number;
  readonly cacheUnauthorizedRequests: boolean;
  readonly timeoutMs: number;
  readonly subjectAccessReviewVersion: 'v1' | 'v1beta1';
  /** The decision if a call or a match condition fails, or an answer is malformed. */
  readonly failurePolicy: 'NoOpinion' | 'Deny';
  /** Absolute path of a kubeconfig; undefined for InClusterConfig. */
  readonly kubeconfigFile: string | undefined;
  /** CEL expressions over the v1 SubjectAccessReview, at most 64. */
  readonly matchConditions: readonly string[];
}
