import type { Authorizer } from './authorizer.js';
import type { AuthorizationWebhook } from './authorization-webhook/authorization-webhook-dependencies.js';
import { alwaysAllow, alwaysDeny } from './authorizers/always.authorizer.js';
import { privilegedGroupAuthorizer } from './authorizers/privileged-group.authorizer.js';
import type { BuiltInType } from './configuration/authorization-configuration.js';

/** One authorizer of the configuration; a webhook is open. */
export type ConfiguredAuthorizer =
  | { readonly type: BuiltInType; readonly name: string; readonly webhook?: undefined }
  | { readonly type: 'Webhook'; readonly name: string; readonly webhook: AuthorizationWebhook };

/** Constructs the authorizers that need more than requests. */
type Makers = Readonly<Record<Exclude<BuiltInType, 'AlwaysAllow' | 'AlwaysDeny'>, () => Authorizer>>;
type Counted = (authorizer: Authorizer) => Authorizer;

/**
 * Returns a function that returns the authorizers of a configuration, in order, after the privileged group. Built-in
 * authorizers are constructed when they are first configured, and used again by later configurations.
 */
export function authorizerLists(
  makers: Makers,
  counted: Counted,
): (configured: readonly ConfiguredAuthorizer[]) => readonly Authorizer[] {
  const byType: Record<BuiltInType, () => Authorizer> = {
    ...makers,
    AlwaysAllow: () => alwaysAllow,
    AlwaysDeny: () => alwaysDeny,
  };
  const builtIn = new Map<BuiltInType, Authorizer>();
  const authorizerOf = (one: ConfiguredAuthorizer): Authorizer => {
    if (one.type === 'Webhook') return counted(one.webhook);
    let authorizer = builtIn.get(one.type);
    if (!authorizer) builtIn.set(one.type, (authorizer = counted(byType[one.type]())));
    return authorizer;
  };
  const privileged = counted(privilegedGroupAuthorizer);
  return (configured) => [privileged, ...configured.map(authorizerOf)];
}
