import { noOpinion, noRules, type Authorizer } from './authorizer.js';
import { alwaysAllow, alwaysDeny } from './authorizers/always.authorizer.js';
import { privilegedGroupAuthorizer } from './authorizers/privileged-group.authorizer.js';

type AuthorizationMode = 'Node' | 'ABAC' | 'RBAC' | 'Webhook' | 'AlwaysAllow' | 'AlwaysDeny';

/** Returns an authorizer without opinion, for modes that are not implemented: they grant nothing. */
const silent = (name: string): Authorizer => ({ name, authorize: () => noOpinion, rulesFor: () => noRules });

interface ModeAuthorizers {
  readonly rbac: Authorizer;
  readonly abac: () => Authorizer;
  readonly node: () => Authorizer;
}

/** Returns the authorizers of the configured modes, in their order, after the privileged group. */
export function authorizersFor(
  modes: readonly AuthorizationMode[],
  { rbac, abac, node }: ModeAuthorizers,
): readonly Authorizer[] {
  const byMode: Record<AuthorizationMode, () => Authorizer> = {
    AlwaysAllow: () => alwaysAllow,
    AlwaysDeny: () => alwaysDeny,
    Node: node,
    ABAC: abac,
    RBAC: () => rbac,
    Webhook: () => silent('Webhook'),
  };
  return [privilegedGroupAuthorizer, ...modes.map((mode) => byMode[mode]())];
}
