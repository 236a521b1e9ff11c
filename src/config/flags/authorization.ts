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
      { refused: 'this server does not read the file; requests that its authorizers deny would be allowed' },
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
    unserved(
      'authorization-webhook-cache-authorized-ttl',
      'duration',
      '5m0s',
      'time for which the webhook\'s answer "allowed" is cached',
    ),
    unserved(
      'authorization-webhook-cache-unauthorized-ttl',
      'duration',
      '30s',
      'time for which the webhook\'s answer "denied" is cached',
    ),
    unserved(
      'authorization-webhook-config-file',
      'string',
      '',
      'kubeconfig of the authorization webhook; adds Webhook to the default modes',
      { refused: 'this server does not call the webhook; requests that it denies would be allowed' },
    ),
    unserved(
      'authorization-webhook-version',
      'string',
      'v1beta1',
      'version of SubjectAccessReview that is sent to the webhook',
      {
        choices: ['v1beta1', 'v1'],
      },
    ),
  ],
};
