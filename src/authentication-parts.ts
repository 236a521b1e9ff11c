import type { Authenticator } from './auth/authenticator.js';
import { anonymousAuthenticator } from './auth/authenticators/anonymous.authenticator.js';
import { bootstrapTokenAuthenticator } from './auth/authenticators/bootstrap-token.authenticator.js';
import { certificateAuthenticator } from './auth/authenticators/certificate.authenticator.js';
import { requestHeaderAuthenticator } from './auth/authenticators/request-header.authenticator.js';
import { secretTokenAuthenticator } from './auth/authenticators/secret-token.authenticator.js';
import { serviceAccountTokenAuthenticator } from './auth/authenticators/service-account-token.authenticator.js';
import { tokenFileAuthenticator } from './auth/authenticators/token-file.authenticator.js';
import type { TokenObjects } from './auth/authenticators/token-objects.js';
import {
  RequestAuthenticator,
  type CertificateIdentities,
  type ProxyIdentities,
} from './auth/request-authenticator.js';
import { SecretTokens } from './auth/secret-tokens.js';
import { ServiceAccountTokens } from './auth/service-account-tokens.js';
import type { TokenKeys } from './auth/token-keys.js';
import type { ServerConfig } from './config/server-config.js';
import { ApiError } from './machinery/api-error.js';
import type { ResourceRegistry } from './registry/resource-registry.js';
import type { Clock } from './std/clock.js';

/** What tells who sends a request. */
export interface GivenIdentities {
  readonly config: ServerConfig;
  readonly clock: Clock;
  readonly certificates: CertificateIdentities | undefined;
  /** Who may say in headers whom a request is from. */
  readonly proxies?: ProxyIdentities | undefined;
  /** The text of --token-auth-file. */
  readonly tokens: string | undefined;
  /** Keys of service account tokens; the first token may have to wait until one is made. None: no such tokens. */
  readonly tokenKeys?: (() => Promise<TokenKeys>) | undefined;
}

export interface AuthenticationParts {
  readonly authenticator: RequestAuthenticator;
  readonly accountTokens: ServiceAccountTokens;
  readonly secretTokens: SecretTokens;
}

export function makeAuthentication(given: GivenIdentities, registry: ResourceRegistry): AuthenticationParts {
  const { config, clock, certificates, proxies, tokenKeys: keys = noTokenKeys } = given;
  const { naming, authentication } = config;
  const accountTokens = new ServiceAccountTokens({
    issuers: authentication.serviceAccount.issuers,
    privateClaim: naming.labelDomain,
    keys,
  });
  const secretTokens = new SecretTokens({
    issuer: `${naming.serviceName}/serviceaccount`,
    labelDomain: naming.labelDomain,
    keys,
  });
  const authenticator = new RequestAuthenticator({
    authenticators: authenticatorsFor(given, { accountTokens, secretTokens }, registry),
    audiences: authentication.apiAudiences,
    certificates,
    proxies,
    clock,
  });
  return { authenticator, accountTokens, secretTokens };
}

/** The union, in order: a proxy's word, a certificate, a token, nobody. */
function authenticatorsFor(
  { config, tokens, proxies, clock }: GivenIdentities,
  { accountTokens, secretTokens }: Omit<AuthenticationParts, 'authenticator'>,
  registry: ResourceRegistry,
): Authenticator[] {
  const { authentication, naming } = config;
  const objects = tokenObjects(registry);
  const { apiAudiences: audiences } = authentication;
  const { looksUp } = authentication.serviceAccount;
  const tokenParts = { objects, audiences, labelDomain: naming.labelDomain, clock, looksUp };
  return [
    ...(proxies ? [requestHeaderAuthenticator(authentication.requestHeader)] : []),
    certificateAuthenticator,
    ...(tokens === undefined ? [] : [tokenFileAuthenticator(tokens, authentication.tokenAuthFile ?? 'the token file')]),
    serviceAccountTokenAuthenticator({ ...tokenParts, tokens: accountTokens }),
    secretTokenAuthenticator({ ...tokenParts, tokens: secretTokens }),
    ...(authentication.bootstrapTokens ? [bootstrapTokenAuthenticator({ objects, naming, clock })] : []),
    ...(authentication.anonymous ? [anonymousAuthenticator] : []),
  ];
}

const noTokenKeys = () => Promise.reject(new Error('this server has no key for service account tokens'));

/** What tokens are bound to, as the stores of the core group have it. */
function tokenObjects(registry: ResourceRegistry): TokenObjects {
  const storeOf = (resource: string) => registry.require('', 'v1', resource).store;
  return {
    cached(resource, namespace, name) {
      const store = storeOf(resource);
      return store.cache.get(store.keyOf(namespace, name))?.parse();
    },
    async live(resource, namespace, name) {
      try {
        return (await storeOf(resource).get(namespace, name, {})).parse();
      } catch (error) {
        if (error instanceof ApiError && error.reason === 'NotFound') return undefined;
        throw error;
      }
    },
  };
}
