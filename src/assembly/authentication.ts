import type { Live } from '../certificates/live.js';
import type { AuthenticationConfiguration } from '../auth/configuration/authentication-configuration.js';
import type { AuthenticatorDefinition } from '../auth/authenticator-definition.js';
import { makeAuthenticators } from '../auth/authenticators.js';
import type { TokenObjects } from '../auth/authenticators/token-objects.js';
import type { JwtIssuers } from '../auth/jwt-issuers/jwt-issuers.js';
import {
  RequestAuthenticator,
  type CertificateIdentities,
  type ProxyIdentities,
} from '../auth/request-authenticator.js';
import { SecretTokens } from '../auth/secret-tokens.js';
import { ServiceAccountTokens, type TokenLimits } from '../auth/service-account-tokens.js';
import type { TokenCacheObserver } from '../auth/token-cache-observer.js';
import { TokenUses } from '../auth/token-uses.js';
import type { TokenKeys } from '../auth/token-keys.js';
import type { WebhookObserver } from '../auth/webhook/post-review.js';
import { rejectedReview } from '../auth/webhook/token-review.js';
import { TokenWebhook } from '../auth/webhook/token-webhook.js';
import type { JwtMetrics } from '../metrics/jwt-metrics.js';
import type { ServerConfig } from '../config/server-config.js';
import type { InjectCall } from '../kubeconfig-client/injected-call.js';
import type { KubeconfigClient } from '../kubeconfig-client/kubeconfig-client.js';
import type { SignerMetrics } from '../metrics/signer-metrics.js';
import { readFresh } from '../registry/read/freshness.js';
import type { ResourceRegistry } from '../registry/resource-registry.js';
import type { ResourceStore } from '../registry/resource-store.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { Rng } from '../std/rng.js';

/** Sources of credentials, from the configuration and from files. */
export interface CredentialSources {
  readonly config: ServerConfig;
  readonly clock: Clock;
  readonly certificates: CertificateIdentities | undefined;
  /** Front proxies: clients whose certificate --requestheader-client-ca-file verifies. */
  readonly proxies?: ProxyIdentities | undefined;
  /** Content of --token-auth-file. */
  readonly tokens: string | undefined;
  /** Content of --authentication-config. */
  readonly configuration?: Live<AuthenticationConfiguration> | undefined;
  /** Issuers of JSON Web Tokens, from that file or from flags. */
  readonly jwtIssuers?: JwtIssuers | undefined;
  readonly jwtMetrics?: JwtMetrics | undefined;
  /** The client of --authentication-token-webhook-config-file. */
  readonly tokenWebhookClient?: KubeconfigClient | undefined;
  /** Authenticators of an embedding program. */
  readonly authenticators?: readonly AuthenticatorDefinition[] | undefined;
  /**
   * Returns the keys of service account tokens; the promise is pending while a key is generated. If absent, tokens
   * cannot be issued or verified.
   */
  readonly tokenKeys?: (() => Promise<TokenKeys>) | undefined;
  /** Maximum validity of tokens that an external signer signs; absent without one. */
  readonly signerLifeSecondsMax?: number | undefined;
  readonly signerMetrics?: SignerMetrics | undefined;
}

export interface AuthenticationComponents {
  readonly authenticator: RequestAuthenticator;
  readonly accountTokens: ServiceAccountTokens;
  readonly secretTokens: SecretTokens;
  readonly tokenUses: TokenUses;
}

interface AuthenticationDependencies {
  readonly registry: ResourceRegistry;
  readonly tokenCacheObserver: TokenCacheObserver;
  readonly webhookObserver: WebhookObserver;
  readonly injectCall: InjectCall | undefined;
  readonly rng: Rng;
  readonly logger: Logger;
}

export function makeAuthentication(
  sources: CredentialSources,
  dependencies: AuthenticationDependencies,
): AuthenticationComponents {
  const { config, clock, certificates, proxies, tokens, tokenKeys: keys = noTokenKeys } = sources;
  const { configuration, jwtIssuers } = sources;
  const { naming, authentication } = config;
  const accountTokens = new ServiceAccountTokens({
    issuers: authentication.serviceAccount.issuers,
    privateClaim: naming.labelDomain,
    keys,
    limits: tokenLimits(config, sources.signerLifeSecondsMax),
  });
  const secretTokens = new SecretTokens({
    issuer: `${naming.serviceName}/serviceaccount`,
    labelDomain: naming.labelDomain,
    keys,
  });
  const tokenUses = new TokenUses();
  const authenticator = new RequestAuthenticator({
    authenticators: makeAuthenticators(sources.authenticators ?? [], {
      ...{ config, clock, accountTokens, secretTokens, tokenUses, tokenFile: tokens, configuration, jwtIssuers },
      objects: tokenObjects(dependencies.registry),
      tokenWebhook: tokenWebhook(sources, dependencies),
      trustsProxies: proxies !== undefined,
    }),
    audiences: authentication.apiAudiences,
    certificates,
    proxies,
    clock,
    tokenCacheObserver: dependencies.tokenCacheObserver,
  });
  return { authenticator, accountTokens, secretTokens, tokenUses };
}

/** A year, as in kube-apiserver. */
const extendedLifeSeconds = 365 * 24 * 3600;

function tokenLimits({ authentication }: ServerConfig, signerSecondsMax = Infinity): TokenLimits {
  const { tokenLifeMsMax, extendsTokens } = authentication.serviceAccount;
  const seconds = Math.min(tokenLifeMsMax > 0 ? tokenLifeMsMax / 1000 : Infinity, signerSecondsMax);
  return {
    lifeSecondsMax: seconds === Infinity ? 0 : seconds,
    // As in kube-apiserver: --service-account-max-token-expiration does not limit the extension, an external signer does.
    extendedLifeSecondsMax: extendsTokens ? Math.min(extendedLifeSeconds, signerSecondsMax) : 0,
  };
}

function tokenWebhook(
  { config, clock, tokenWebhookClient: client }: CredentialSources,
  { tokenCacheObserver: observer, webhookObserver, injectCall, rng, logger }: AuthenticationDependencies,
): TokenWebhook | undefined {
  const { naming, limits, authentication } = config;
  const { version, cacheTtlMs } = authentication.tokenWebhook;
  const apiVersion = `${naming.group('authentication')}/${version}`;
  return (
    client &&
    new TokenWebhook({
      ...{ client, clock, rng, logger, observer, webhookObserver, cacheTtlMs },
      apiVersion,
      injectCall:
        injectCall &&
        (() =>
          injectCall({ kind: 'authentication', configuration: '', name: '', user: undefined }, (decision) =>
            rejectedReview(apiVersion, decision),
          )),
      ownAudiences: authentication.apiAudiences,
      answerBytesMax: limits.tokenReviewAnswerBytesMax,
      limits: {
        entriesMax: limits.tokenReviewsCachedMax,
        bytesMax: limits.tokenReviewsCachedBytesMax,
        pendingMax: limits.tokenReviewsPendingMax,
        pendingBytesMax: limits.tokenReviewsPendingBytesMax,
      },
    })
  );
}

const noTokenKeys = () => Promise.reject(new Error('this server has no key for service account tokens'));

/** Reads the objects that tokens are bound to (ServiceAccount, Secret, Pod, Node) from the stores of the core group. */
function tokenObjects(registry: ResourceRegistry): TokenObjects {
  const stores = new Map<string, ResourceStore>();
  /** Stores of the core group exist as long as the server. */
  const storeOf = (resource: string): ResourceStore => {
    let store = stores.get(resource);
    if (!store) stores.set(resource, (store = registry.require('', 'v1', resource).store));
    return store;
  };
  const cached = (store: ResourceStore, namespace: string, name: string) => {
    const found = store.cache.get(store.keyOf(namespace, name));
    return found?.corruption ? undefined : found;
  };
  return {
    cached: (resource, namespace, name) => cached(storeOf(resource), namespace, name),
    async live(resource, namespace, name) {
      const store = storeOf(resource);
      await readFresh(store.dependencies, store.cache, undefined, undefined);
      return cached(store, namespace, name);
    },
  };
}
