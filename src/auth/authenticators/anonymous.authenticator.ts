import { anonymousUser } from '../../machinery/user-info.js';
import type { Authenticator } from '../authenticator.js';
import { defineAuthenticator } from '../authenticator-definition.js';

/**
 * Authenticates requests without credentials as system:anonymous. Requests with an invalid token are rejected before.
 */
const anonymousAuthenticator: Authenticator = {
  reads: 'request',
  isLastResort: true,
  authenticate: ({ bearerToken }) => (bearerToken === undefined ? { user: anonymousUser } : undefined),
};

export const anonymous = defineAuthenticator({
  name: 'anonymous',
  make: ({ config }) => (config.authentication.anonymous ? anonymousAuthenticator : undefined),
});
