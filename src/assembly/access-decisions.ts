import { authorize, type AuthorizationAttributes, type Authorizers } from '../auth/authorizer.js';
import type { AccessCheck, AccessDecision } from '../cel/libraries/kubernetes/authorizer.js';
import { fieldSelectorIfValid } from '../machinery/field-selector.js';
import { labelSelectorIfValid } from '../machinery/label-selector-parser.js';
import { serviceAccountGroups, serviceAccountUserName, type UserInfo } from '../machinery/user-info.js';

/** Returns a function that answers the `authorizer` checks of expressions. An authorizer that fails is an error. */
export function accessDecisions(authorizers: Authorizers) {
  return async (user: UserInfo, check: AccessCheck): Promise<AccessDecision> => {
    try {
      const { decision, reason } = await authorize(authorizers, attributesOf(user, check));
      return { isAllowed: decision === 'allow', reason };
    } catch (error) {
      return { isAllowed: false, reason: '', error: error instanceof Error ? error.message : String(error) };
    }
  };
}

function attributesOf(user: UserInfo, check: AccessCheck): AuthorizationAttributes {
  const { verb, group, resource, subresource, namespace, name, path = '', serviceAccount } = check;
  return {
    user: serviceAccount ? serviceAccountUser(serviceAccount) : user,
    verb,
    isResourceRequest: check.path === undefined,
    group,
    version: '*',
    resource,
    subresource,
    namespace,
    name,
    path,
    fieldSelector: check.fieldSelector === '' ? undefined : fieldSelectorIfValid(check.fieldSelector),
    labelSelector: check.labelSelector === '' ? undefined : labelSelectorIfValid(check.labelSelector),
  };
}

const serviceAccountUser = ({ namespace, name }: NonNullable<AccessCheck['serviceAccount']>): UserInfo => ({
  name: serviceAccountUserName(namespace, name),
  uid: '',
  groups: serviceAccountGroups(namespace),
  extra: {},
});
