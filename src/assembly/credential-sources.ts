import { readFile } from 'node:fs/promises';
import { tokenCacheTtlMs, type CertificateIdentities, type ProxyIdentities } from '../auth/request-authenticator.js';
import {
  readAuthenticationConfiguration,
  type AuthenticationConfiguration,
} from '../auth/configuration/authentication-configuration.js';
import { jwtOfFlags } from '../auth/configuration/oidc-flags.js';
import { JwtIssuers } from '../auth/jwt-issuers/jwt-issuers.js';
import type { CertificateIdentity } from '../certificates/certificate-identity.js';
import { ClientCertificates } from '../certificates/client-certificates.js';
import type { Live } from '../certificates/live.js';
import { LiveFiles } from '../certificates/live-files.js';
import type { Pki } from '../certificates/pki.js';
import { FlagError } from '../config/flag-error.js';
import type { ServerConfig } from '../config/server-config.js';
import { ClientError } from '../kubeconfig-client/client-error.js';
import type { KubeconfigClient } from '../kubeconfig-client/kubeconfig-client.js';
import { JwtMetrics } from '../metrics/jwt-metrics.js';
import { allAuthenticated, type UserInfo } from '../machinery/user-info.js';
import type { Clock } from '../std/clock.js';
import type { Logger } from '../std/logger.js';
import type { CredentialSources } from './authentication.js';
import type { FileWatching, ServerTls } from './tls.js';
import { openSigner } from './external-signer.js';
import { tokenKeysOf } from './token-key-files.js';

interface CredentialOptions {
  readonly pki: Pki;
  readonly tls: ServerTls;
  /** True with the authorizer AlwaysAllow. */
  readonly allowsEverything: boolean;
}

/** Reads the configured files of tokens and keys, and identifies clients by the CAs of `tls`. */
export async function credentialSources(
  config: ServerConfig,
  { pki, tls, allowsEverything, ...watching }: FileWatching & CredentialOptions,
): Promise<CredentialSources> {
  const { clock } = watching;
  const { tokenAuthFile, serviceAccount } = config.authentication;
  const { signingEndpoint } = serviceAccount;
  const jwtMetrics = new JwtMetrics(clock);
  const configuration = await liveConfiguration(config, allowsEverything, watching, jwtMetrics);
  return {
    config: allowsEverything ? withoutAnonymous(config, watching.logger) : config,
    clock,
    certificates: usersOfCertificates(config, tls, clock),
    proxies: frontProxies(config, tls, clock),
    tokens: tokenAuthFile === undefined ? undefined : await readFile(tokenAuthFile, 'utf8'),
    configuration,
    jwtIssuers: await jwtIssuersOf(config, watching, jwtMetrics, configuration),
    jwtMetrics,
    ...(signingEndpoint === undefined
      ? { tokenKeys: await tokenKeysOf(config, pki, watching) }
      : await openSigner(signingEndpoint, config, watching)),
    tokenWebhookClient: await tokenWebhookClient(config, watching),
  };
}

/** Returns the configuration without anonymous requests, which AlwaysAllow would let do anything. */
function withoutAnonymous(config: ServerConfig, logger: Logger): ServerConfig {
  const { authentication } = config;
  if (authentication.anonymous && authentication.isAnonymousFlagGiven) {
    logger.warn('--anonymous-auth has no effect: anonymous requests are rejected with the authorizer AlwaysAllow');
  }
  return { ...config, authentication: { ...authentication, anonymous: false } };
}

/** Reads --authentication-config, and follows its changes. An invalid change is logged and has no effect. */
async function liveConfiguration(
  { authentication, naming }: ServerConfig,
  allowsEverything: boolean,
  { clock, logger, undo }: FileWatching,
  meters: JwtMetrics,
): Promise<Live<AuthenticationConfiguration> | undefined> {
  const { configFile: file, isAnonymousFlagGiven } = authentication;
  if (file === undefined) return undefined;
  const ownIssuers = authentication.serviceAccount.issuers;
  const options = { file, naming, isAnonymousFlagGiven, allowsEverything, ownIssuers };
  const configuration = await LiveFiles.open({
    subject: 'authentication configuration',
    files: [file],
    parse: ([bytes]) => readAuthenticationConfiguration(bytes!.toString(), options),
    onFailure: () => meters.configurationReloaded('failure'),
    clock,
    logger,
  });
  undo.add(() => configuration.close());
  return configuration;
}

/** Returns the issuers of the configuration file, or the one of the flags --oidc-*. */
async function jwtIssuersOf(
  config: ServerConfig,
  { clock, logger, undo }: FileWatching,
  meters: JwtMetrics,
  configuration: Live<AuthenticationConfiguration> | undefined,
): Promise<JwtIssuers | undefined> {
  const ofFlags = await jwtOfFlags(config);
  if (!configuration && !ofFlags) return undefined;
  const issuers = new JwtIssuers({ clock, logger, meters, labelDomain: config.naming.labelDomain });
  undo.add(() => issuers.close());
  issuers.start(configuration?.current() ?? { jwt: ofFlags ? [ofFlags] : [], text: undefined });
  if (configuration) undo.add(configuration.onChange((changed) => issuers.change(changed)));
  return issuers;
}

/** Opens the kubeconfig of the token webhook. Files that it names are read again when they change; itself it is not. */
async function tokenWebhookClient(
  { authentication, naming }: ServerConfig,
  { clock, logger, undo }: FileWatching,
): Promise<KubeconfigClient | undefined> {
  const { configFile: file, cacheTtlMs } = authentication.tokenWebhook;
  if (file === undefined) return undefined;
  if (cacheTtlMs > 0 && cacheTtlMs < tokenCacheTtlMs) {
    logger.warn(
      '--authentication-token-webhook-cache-ttl is shorter than the time for which accepted tokens are cached',
      {
        ttlMs: cacheTtlMs,
        acceptedTokensMs: tokenCacheTtlMs,
      },
    );
  }
  // Most servers have no webhook and do not load the client.
  const { openKubeconfigClient } = await import('../kubeconfig-client/open-client.js');
  try {
    const client = await openKubeconfigClient({ file, naming, clock, logger });
    undo.add(() => client.close());
    return client;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    throw new FlagError('authentication-token-webhook-config-file', [error.message]);
  }
}

function usersOfCertificates({ naming }: ServerConfig, { material }: ServerTls, clock: Clock): CertificateIdentities {
  const certificates = new ClientCertificates(() => material.clientCaBundle(), naming.labelDomain);
  // A connection has one CertificateIdentity, so its user is computed once.
  const users = new WeakMap<CertificateIdentity, { readonly user: UserInfo }>();
  return {
    of(socket) {
      const verdict = certificates.verdictOf(socket, clock);
      if (!verdict || !('identity' in verdict)) return verdict;
      const { identity } = verdict;
      let known = users.get(identity);
      if (!known) users.set(identity, (known = { user: userOf(identity) }));
      return known;
    },
  };
}

function userOf({ name, uid = '', groups, extra }: CertificateIdentity): UserInfo {
  return { name, uid, groups: [...groups, allAuthenticated], extra };
}

function frontProxies({ naming }: ServerConfig, { proxyCa }: ServerTls, clock: Clock): ProxyIdentities | undefined {
  if (!proxyCa) return undefined;
  const certificates = new ClientCertificates(() => proxyCa.current(), naming.labelDomain);
  return {
    of(socket) {
      const verdict = certificates.verdictOf(socket, clock);
      return verdict && 'identity' in verdict ? verdict.identity.name : undefined;
    },
  };
}
