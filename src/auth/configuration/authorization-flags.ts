import { resolve } from 'node:path';
import type { ServerConfig } from '../../config/server-config.js';
import type { AuthorizerConfiguration } from './authorization-configuration.js';
import type { WebhookAuthorizerConfiguration } from './webhook-authorizer-configuration.js';

/** Returns the authorizers of --authorization-mode, with the names, timeout and policy of kube-apiserver. */
export function authorizersOfFlags({
  modes,
  webhook,
}: Pick<ServerConfig['authorization'], 'modes' | 'webhook'>): readonly AuthorizerConfiguration[] {
  return modes.map((type) =>
    type === 'Webhook'
      ? { type, name: webhookName, webhook: webhookOfFlags(webhook) }
      : { type, name: type.toLowerCase() },
  );
}

const webhookName = 'default';

function webhookOfFlags(flags: ServerConfig['authorization']['webhook']): WebhookAuthorizerConfiguration {
  const { configFile = '', version, authorizedTtlMs, unauthorizedTtlMs } = flags;
  return {
    name: webhookName,
    timeoutMs: 30_000,
    ...{ authorizedTtlMs, unauthorizedTtlMs },
    cacheAuthorizedRequests: authorizedTtlMs > 0,
    cacheUnauthorizedRequests: unauthorizedTtlMs > 0,
    subjectAccessReviewVersion: version,
    failurePolicy: 'NoOpinion',
    kubeconfigFile: resolve(configFile),
    matchConditions: [],
  };
}
