import { used, type FlagTopic } from '../flag.js';

export const authorizationModes = ['AlwaysAllow', 'AlwaysDeny', 'ABAC', 'Webhook', 'RBAC', 'Node'] as const;

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
      'authorizers in order; the first to allow or deny decides',
      { choices: authorizationModes },
    ),
    used('authorization-policy-file', 'string', '', 'authorization.policyFile', 'ABAC policy, one JSON object a line'),
    used(
      'authorization-webhook-cache-authorized-ttl',
      'duration',
      '5m0s',
      'authorization.webhook.authorizedTtlMs',
      'how long the webhook is believed that something is allowed',
    ),
    used(
      'authorization-webhook-cache-unauthorized-ttl',
      'duration',
      '30s',
      'authorization.webhook.unauthorizedTtlMs',
      'how long it is believed that something is not',
    ),
    used(
      'authorization-webhook-config-file',
      'string',
      '',
      'authorization.webhook.configFile',
      'kubeconfig of a service that reviews access; adds Webhook to the default modes',
    ),
    used(
      'authorization-webhook-version',
      'string',
      'v1beta1',
      'authorization.webhook.version',
      'version of the SubjectAccessReview sent to it',
      { choices: ['v1beta1', 'v1'] },
    ),
  ],
};
