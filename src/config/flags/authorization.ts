import { used, type FlagTopic } from '../flag.js';

export const authorizationModes = ['AlwaysAllow', 'AlwaysDeny', 'ABAC', 'Webhook', 'RBAC', 'Node'] as const;

export const accessReviewVersions = ['v1beta1', 'v1'] as const;

const webhook = 'authorization.webhook';

export const authorizationFlags: FlagTopic = {
  title: 'Authorization',
  flags: [
    used(
      'authorization-config',
      'string',
      '',
      'authorization.configFile',
      'AuthorizationConfiguration file; excludes --authorization-mode and --authorization-webhook-*',
    ),
    used(
      'authorization-mode',
      'list',
      'AlwaysAllow',
      'authorization.modes',
      'authorizers in order; the first one that allows or denies a request decides',
      { choices: authorizationModes },
    ),
    used(
      'authorization-policy-file',
      'string',
      '',
      'authorization.policyFile',
      'ABAC policy file, one JSON object per line; read at start',
    ),
    used(
      'explain-forbidden',
      'bool',
      'false',
      'authorization.explainForbidden',
      'add the RBAC rule that a request requires to the message of its 403; names no role and no other user',
    ),
    used(
      'authorization-webhook-cache-authorized-ttl',
      'duration',
      '5m0s',
      `${webhook}.authorizedTtlMs`,
      'time for which the webhook\'s answer "allowed" is cached; 0: not at all',
    ),
    used(
      'authorization-webhook-cache-unauthorized-ttl',
      'duration',
      '30s',
      `${webhook}.unauthorizedTtlMs`,
      'time for which the webhook\'s answer "denied" is cached; 0: not at all',
    ),
    used(
      'authorization-webhook-config-file',
      'string',
      '',
      `${webhook}.configFile`,
      'kubeconfig of the authorization webhook, for --authorization-mode=Webhook',
    ),
    used(
      'authorization-webhook-version',
      'string',
      'v1beta1',
      `${webhook}.version`,
      'version of SubjectAccessReview that is sent to the webhook',
      { choices: accessReviewVersions },
    ),
  ],
};
