import { unserved, used, type FlagTopic } from '../flag.js';

export const authorizationModes = ['AlwaysAllow', 'AlwaysDeny', 'ABAC', 'Webhook', 'RBAC', 'Node'] as const;

export const authorizationFlags: FlagTopic = {
  title: 'Authorization',
  flags: [
    unserved(
      'authorization-config',
      'string',
      '',
      'AuthorizationConfiguration file; excludes --authorization-mode and --authorization-webhook-*',
      { refused: 'the file is not read by this version, and what its authorizers deny would not be denied' },
    ),
    used(
      'authorization-mode',
      'list',
      'AlwaysAllow',
      'authorization.modes',
      'authorizers in order; the first to allow or deny decides',
      { choices: authorizationModes },
    ),
    unserved('authorization-policy-file', 'string', '', 'ABAC policy, one JSON object a line', {
      refused: 'ABAC is not served by this version',
    }),
    unserved(
      'authorization-webhook-cache-authorized-ttl',
      'duration',
      '5m0s',
      'how long the webhook is believed that something is allowed',
    ),
    unserved(
      'authorization-webhook-cache-unauthorized-ttl',
      'duration',
      '30s',
      'how long it is believed that something is not',
    ),
    unserved(
      'authorization-webhook-config-file',
      'string',
      '',
      'kubeconfig of a service that reviews access; adds Webhook to the default modes',
      { refused: 'the service would not be asked by this version, and what it denies would not be denied' },
    ),
    unserved('authorization-webhook-version', 'string', 'v1beta1', 'version of the SubjectAccessReview sent to it', {
      choices: ['v1beta1', 'v1'],
    }),
  ],
};
