import { isDeepStrictEqual } from 'node:util';
import type { AuthorizationWebhook } from '../auth/authorization-webhook/authorization-webhook-dependencies.js';
import type { ConfiguredAuthorizer } from '../auth/authorizers.list.js';
import {
  readAuthorizationConfiguration,
  requireSameTypes,
  type AuthorizationConfiguration,
  type AuthorizerConfiguration,
} from '../auth/configuration/authorization-configuration.js';
import { authorizersOfFlags } from '../auth/configuration/authorization-flags.js';
import type { WebhookAuthorizerConfiguration } from '../auth/configuration/webhook-authorizer-configuration.js';
import type { Live } from '../certificates/live.js';
import { FlagError } from '../config/flag-error.js';
import type { ServerConfig } from '../config/server-config.js';
import { ClientError } from '../kubeconfig-client/client-error.js';
import type { InjectCall } from '../kubeconfig-client/injected-call.js';
import { AuthorizationWebhookMetrics } from '../metrics/authorization-webhook-metrics.js';
import { ReloadMetrics } from '../metrics/reload-metrics.js';
import { WebhookMetrics } from '../metrics/webhook-metrics.js';
import type { Rng } from '../std/rng.js';
import { openFollowedFile } from './followed-file.js';
import type { FileWatching } from './tls.js';

/** Metrics that webhook authorizers update from the moment at which they are opened. */
export interface AuthorizationMeters {
  readonly webhooks: WebhookMetrics;
  readonly authorizationWebhooks: AuthorizationWebhookMetrics;
  /** Undefined without --authorization-config. */
  readonly reloads: ReloadMetrics | undefined;
}

/** The configured authorizers, which --authorization-config replaces while the server runs. */
export interface AuthorizationSource {
  readonly authorizers: Live<readonly ConfiguredAuthorizer[]>;
  readonly meters: AuthorizationMeters;
  /** True with AlwaysAllow, which would let anonymous requests do anything. */
  readonly allowsEverything: boolean;
}

type Watching = FileWatching & {
  readonly rng: Rng;
  /** Absent without --allow-faults. */
  readonly injectCall?: InjectCall | undefined;
};
type OpenWebhook = (configuration: WebhookAuthorizerConfiguration) => Promise<AuthorizationWebhook>;

/** Opens the authorizers of the flags or of --authorization-config. Rejects with a FlagError. */
export async function openAuthorization(config: ServerConfig, watching: Watching): Promise<AuthorizationSource> {
  const { authorization } = config;
  const { configFile: file } = authorization;
  const meters = {
    webhooks: new WebhookMetrics(),
    authorizationWebhooks: new AuthorizationWebhookMetrics(),
    reloads: file === undefined ? undefined : new ReloadMetrics('authorization', watching.clock),
  };
  const open = webhookOpener(config, meters, watching);
  const authorizers =
    file === undefined
      ? await openFlags(config, open, watching)
      : await followFile(file, { config, open, reloads: meters.reloads!, watching });
  const allowsEverything = authorizers.current().some(({ type }) => type === 'AlwaysAllow');
  return { authorizers, meters, allowsEverything };
}

/** Closes idle connections of webhooks; requests that wait for an answer still get it. */
export function closeWebhooks(authorizers: readonly ConfiguredAuthorizer[]): void {
  for (const { webhook } of authorizers) webhook?.close();
}

async function openFlags(
  { authorization }: ServerConfig,
  open: OpenWebhook,
  { undo }: Watching,
): Promise<Live<readonly ConfiguredAuthorizer[]>> {
  const opened = await openAll(authorizersOfFlags(authorization), open, 'authorization-webhook-config-file');
  undo.add(() => closeWebhooks(opened));
  return { current: () => opened, onChange: () => () => undefined };
}

function webhookOpener(config: ServerConfig, meters: AuthorizationMeters, watching: Watching): OpenWebhook {
  const { naming, limits } = config;
  const { clock, rng, logger, injectCall } = watching;
  return async (configuration) => {
    // Most servers have no webhook and do not load it.
    const { openAuthorizationWebhook } = await import('../auth/authorization-webhook/open-authorization-webhook.js');
    return openAuthorizationWebhook(configuration, {
      ...{ naming, limits, clock, rng, logger, injectCall },
      webhookObserver: meters.webhooks,
      observer: meters.authorizationWebhooks,
    });
  };
}

/** Opens all webhooks, or none. */
async function openAll(
  configurations: readonly AuthorizerConfiguration[],
  open: OpenWebhook,
  flag: string,
  file?: string,
): Promise<readonly ConfiguredAuthorizer[]> {
  const opened: ConfiguredAuthorizer[] = [];
  try {
    for (const one of configurations) {
      opened.push(one.webhook ? { type: one.type, name: one.name, webhook: await open(one.webhook) } : one);
    }
    return opened;
  } catch (error) {
    closeWebhooks(opened);
    if (!(error instanceof ClientError)) throw error;
    const { name = '' } = configurations[opened.length] ?? {};
    throw new FlagError(flag, [file === undefined ? error.message : `authorizer ${name}: ${error.message}`], file);
  }
}

interface FollowOptions {
  readonly config: ServerConfig;
  readonly open: OpenWebhook;
  readonly reloads: ReloadMetrics;
  readonly watching: Watching;
}

/** Follows --authorization-config. A change that cannot be used is logged and counted, and has no effect. */
async function followFile(
  file: string,
  { config, open, reloads, watching }: FollowOptions,
): Promise<Live<readonly ConfiguredAuthorizer[]>> {
  const { naming, authorization } = config;
  const { clock } = watching;
  const options = { file, naming, clock, hasPolicyFile: authorization.policyFile !== undefined };
  const flag = 'authorization-config';
  let used: { readonly read: AuthorizationConfiguration; readonly opened: readonly ConfiguredAuthorizer[] } | undefined;
  const use = async (text: string): Promise<readonly ConfiguredAuthorizer[]> => {
    const read = await readAuthorizationConfiguration(text, options);
    if (used) {
      // As kube-apiserver: a change of comments or of the order of fields is none.
      if (isDeepStrictEqual(read.authorizers, used.read.authorizers)) return used.opened;
      requireSameTypes(used.read.authorizers, read.authorizers, file);
    }
    const opened = await openAll(read.authorizers, open, flag, file);
    if (used) reloads.reloaded('success');
    reloads.used(read.text);
    used = { read, opened };
    return opened;
  };
  const parse = (bytes: Buffer) => use(bytes.toString());
  const followed = { subject: 'authorization configuration', flag, file, parse, reloads, release: closeWebhooks };
  return openFollowedFile(followed, watching);
}
