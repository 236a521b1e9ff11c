import { privilegedGroup } from '../../machinery/user-info.js';
import { everyRule, noOpinion, noRules, type Authorizer } from '../authorizer.js';

/**
 * Allows everything to members of system:masters. First in every chain, so that administrators cannot be locked out.
 */
export const privilegedGroupAuthorizer: Authorizer = {
  name: 'privileged-group',
  authorize: ({ user }) => (user.groups.includes(privilegedGroup) ? { decision: 'allow', reason: '' } : noOpinion),
  rulesFor: (user) => (user.groups.includes(privilegedGroup) ? everyRule : noRules),
};
