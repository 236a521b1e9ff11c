import { privilegedGroup } from '../../machinery/user-info.js';
import { everyRule, noOpinion, noRules, type Authorizer } from '../authorizer.js';

/** First in every chain: members of system:masters may do everything, so that nobody can lock the operator out. */
export const privilegedGroupAuthorizer: Authorizer = {
  name: 'privileged-group',
  authorize: ({ user }) => (user.groups.includes(privilegedGroup) ? { decision: 'allow', reason: '' } : noOpinion),
  rulesFor: (user) => (user.groups.includes(privilegedGroup) ? everyRule : noRules),
};
