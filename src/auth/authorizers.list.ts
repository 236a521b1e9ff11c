import { noOpinion, noRules, type Authorizer } from './authorizer.js';
import { alwaysAllow, alwaysDeny } from './authorizers/always.authorizer.js';
import { privilegedGroupAuthorizer } from './authorizers/privileged-group.authorizer.js';

export type AuthorizationMode = 'Node' | 'ABAC' | 'RBAC' | 'Webhook' | 'AlwaysAllow' | 'AlwaysDeny';

/** A mode whose authorizer is not part of this build never grants anything: no door is open by omission. */
const silent = (name: string): Authorizer => ({ name, authorize: () => noOpinion, rulesFor: () => noRules });

/** The chain for the configured modes, in their order. */
export function authorizersFor(modes: readonly AuthorizationMode[], rbac: Authorizer): readonly Authorizer[] {
  const byMode: Record<AuthorizationMode, () => Authorizer> = {
    AlwaysAllow: () => alwaysAllow,
    AlwaysDeny: () => alwaysDeny,
    Node: () => silent('Node'),
    ABAC: () => silent('ABAC'),
    RBAC: () => rbac,
    Webhook: () => silent('Webhook'),
  };
  return [privilegedGroupAuthorizer, ...modes.map((mode) => byMode[mode]())];
}
