import { anonymousUser } from '../../machinery/user-info.js';
import { defineAuthenticator } from '../authenticator-definition.js';
import type { AnonymousAccess } from '../configuration/authentication-configuration.js';

const user = { user: anonymousUser };

/**
 * Authenticates requests without credentials as system:anonymous. Requests with an invalid token are rejected before.
 * --authentication-config can allow them on some paths only, and takes effect when its file changes.
 */
export const anonymous = defineAuthenticator({
  name: 'anonymous',
  make({ config, configuration }) {
    const byFlag: AnonymousAccess = { enabled: config.authentication.anonymous, paths: undefined };
    if (!configuration && !byFlag.enabled) return undefined;
    return {
      reads: 'request',
      isLastResort: true,
      authenticate({ bearerToken, path }) {
        if (bearerToken !== undefined) return undefined;
        const { enabled, paths } = configuration?.current().anonymous ?? byFlag;
        return enabled && (!paths || paths.has(path)) ? user : undefined;
      },
    };
  },
});
