import type { AuthorizationAttributes } from '../../src/auth/authorizer.js';
import type { AuthorizationWebhook } from '../../src/auth/authorization-webhook/authorization-webhook-dependencies.js';
import type { PodSurroundings } from '../../src/auth/authorization-webhook/in-cluster-kubeconfig.js';
import { openAuthorizationWebhook } from '../../src/auth/authorization-webhook/open-authorization-webhook.js';
import type { WebhookAuthorizerConfiguration } from '../../src/auth/configuration/webhook-authorizer-configuration.js';
import type { Limits } from '../../src/config/limits.js';
import { defaultConfig } from '../../src/config/load-config.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import { AuthorizationWebhookMetrics } from '../../src/metrics/authorization-webhook-metrics.js';
import { WebhookMetrics } from '../../src/metrics/webhook-metrics.js';
import type { Clock } from '../../src/std/clock.js';

interface Options extends Partial<WebhookAuthorizerConfiguration> {
  readonly clock: Clock;
  readonly limits?: Partial<Limits>;
  readonly profile?: 'kubernetes' | 'svc';
  readonly pod?: PodSurroundings;
}

/** A webhook authorizer with what it logs and counts. */
export interface WebhookAuthorizerWorld {
  readonly webhook: AuthorizationWebhook;
  readonly lines: readonly string[];
  /** Values of counters and numbers of observations by name, with the labels but `type` and `name`. */
  counts(): Record<string, number>;
}

export async function openWebhookAuthorizer(options: Options): Promise<WebhookAuthorizerWorld> {
  const { clock, limits = {}, profile = 'kubernetes', pod, ...configuration } = options;
  const lines: string[] = [];
  const log = (message: string, fields?: Record<string, unknown>) =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  const metrics = new AuthorizationWebhookMetrics();
  const webhook = await openAuthorizationWebhook(
    {
      name: 'policy',
      authorizedTtlMs: 300_000,
      cacheAuthorizedRequests: true,
      unauthorizedTtlMs: 30_000,
      cacheUnauthorizedRequests: true,
      timeoutMs: 30_000,
      subjectAccessReviewVersion: 'v1',
      failurePolicy: 'Deny',
      kubeconfigFile: undefined,
      matchConditions: [],
      ...configuration,
    },
    {
      naming: namingProfile(profile),
      limits: { ...defaultConfig().limits, ...limits },
      clock,
      rng: { below: () => 0, uuid: () => '' },
      logger: { debug: log, info: log, warn: log, error: log },
      webhookObserver: new WebhookMetrics(),
      observer: metrics,
      ...(pod && { pod }),
    },
  );
  const counts = () =>
    Object.fromEntries(
      metrics.families().flatMap(({ name, samples }) =>
        Array.from(samples()).flatMap(({ labels, suffix, value }) => {
          if (suffix !== undefined && suffix !== '_count') return [];
          const short = name.replace('apiserver_authorization_', '');
          return [[labels['result'] === undefined ? short : `${short} ${labels['result']}`, value] as const];
        }),
      ),
    );
  return { webhook, lines, counts };
}

/** Attributes of a GET of a Pod by eve. */
export function attributesOf(attributes: Partial<AuthorizationAttributes> = {}): AuthorizationAttributes {
  return {
    user: { name: 'eve', uid: '', groups: ['system:authenticated'], extra: {} },
    verb: 'get',
    isResourceRequest: true,
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource: '',
    namespace: 'shop',
    name: 'web',
    path: '/api/v1/namespaces/shop/pods/web',
    ...attributes,
  };
}
