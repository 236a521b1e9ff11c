import type { Live } from '../certificates/live.js';
import type { ServerConfig } from '../config/server-config.js';
import type { Clock } from '../std/clock.js';
import type { Authenticator } from './authenticator.js';
import type { TokenObjects } from './authenticators/token-objects.js';
import type { AuthenticationConfiguration } from './configuration/authentication-configuration.js';
import type { JwtIssuers } from './jwt-issuers/jwt-issuers.js';
import type { SecretTokens } from './secret-tokens.js';
import type { ServiceAccountTokens } from './service-account-tokens.js';
import type { TokenUses } from './token-uses.js';
import type { TokenWebhook } from './webhook/token-webhook.js';

/** Declares a method of authentication. authenticators.ts lists the built-in ones in the order of their use. */
export interface AuthenticatorDefinition {
  /** Unique. */
  readonly name: string;
  /** Returns undefined if the configuration does not enable the method. */
  make(dependencies: AuthenticatorDependencies): Authenticator | undefined;
}

export function defineAuthenticator<Definition extends AuthenticatorDefinition>(definition: Definition): Definition {
  return definition;
}

/** Returns the dependencies of both authenticators of service account tokens. */
export function tokenChecks({
  config,
  objects,
  clock,
  tokenUses: uses,
}: Pick<AuthenticatorDependencies, 'config' | 'objects' | 'clock' | 'tokenUses'>) {
  const { authentication, naming } = config;
  const { looksUp } = authentication.serviceAccount;
  return {
    objects,
    audiences: authentication.apiAudiences,
    labelDomain: naming.labelDomain,
    authenticationGroup: naming.group('authentication'),
    clock,
    looksUp,
    uses,
  };
}

/** Dependencies that `make` of every authenticator receives. */
export interface AuthenticatorDependencies {
  readonly config: ServerConfig;
  readonly clock: Clock;
  /** Objects of the core group, which tokens are bound to. */
  readonly objects: TokenObjects;
  readonly accountTokens: ServiceAccountTokens;
  readonly secretTokens: SecretTokens;
  readonly tokenUses: TokenUses;
  /** Content of --token-auth-file. */
  readonly tokenFile: string | undefined;
  /** Content of --authentication-config, which follows its file. */
  readonly configuration?: Live<AuthenticationConfiguration> | undefined;
  /** Issuers of JSON Web Tokens that the configuration file or flags name. */
  readonly jwtIssuers?: JwtIssuers | undefined;
  /** The webhook of --authentication-token-webhook-config-file. */
  readonly tokenWebhook?: Pick<TokenWebhook, 'authenticate'> | undefined;
  /** True with --requestheader-client-ca-file. */
  readonly trustsProxies: boolean;
}
