import { everyRule, noRules, type Authorizer } from '../authorizer.js';

export const alwaysAllow: Authorizer = {
  name: 'AlwaysAllow',
  authorize: () => ({ decision: 'allow', reason: '' }),
  rulesFor: () => everyRule,
};

export const alwaysDeny: Authorizer = {
  name: 'AlwaysDeny',
  authorize: () => ({ decision: 'no opinion', reason: 'Everything is forbidden.' }),
  rulesFor: () => noRules,
};
