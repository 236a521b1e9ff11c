import type { Limits } from '../../config/limits.js';
import { deniedReview } from './access-review.js';
import type { OpenAuthorizationWebhook } from './authorization-webhook-dependencies.js';
import { WebhookAuthorizer, type ReviewLimits } from './authorization-webhook.js';
import { inClusterKubeconfig, podSurroundings } from './in-cluster-kubeconfig.js';
import { MatchConditions } from './match-conditions.js';

export const openAuthorizationWebhook: OpenAuthorizationWebhook = async (configuration, dependencies) => {
  const { name, failurePolicy, timeoutMs, kubeconfigFile: file } = configuration;
  const { naming, limits, clock, rng, logger, webhookObserver, observer, injectCall } = dependencies;
  const apiVersion = `${naming.group('authorization')}/${configuration.subjectAccessReviewVersion}`;
  const conditions = await MatchConditions.compile(configuration.matchConditions, clock);
  // Most servers have no webhook and do not load the client.
  const { openKubeconfigClient } = await import('../../kubeconfig-client/open-client.js');
  const pod = dependencies.pod ?? podSurroundings(naming);
  const source = file === undefined ? { text: inClusterKubeconfig(pod, apiVersion) } : { file };
  const client = await openKubeconfigClient({ ...source, naming, clock, logger });
  return new WebhookAuthorizer({
    ...{ name, failurePolicy, timeoutMs, apiVersion, conditions },
    ...{ client, clock, rng, logger, webhookObserver, observer },
    injectCall:
      injectCall &&
      ((user) =>
        injectCall({ kind: 'authorization', configuration: name, name: '', user }, (decision) =>
          deniedReview(apiVersion, decision),
        )),
    answerBytesMax: limits.accessReviewAnswerBytesMax,
    allowedTtlMs: configuration.cacheAuthorizedRequests ? configuration.authorizedTtlMs : 0,
    otherTtlMs: configuration.cacheUnauthorizedRequests ? configuration.unauthorizedTtlMs : 0,
    limits: reviewLimits(limits),
  });
};

const reviewLimits = (limits: Limits): ReviewLimits => ({
  entriesMax: limits.accessReviewsCachedMax,
  bytesMax: limits.accessReviewsCachedBytesMax,
  pendingMax: limits.accessReviewsPendingMax,
  pendingBytesMax: limits.accessReviewsPendingBytesMax,
});
