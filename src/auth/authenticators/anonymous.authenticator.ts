import { anonymousUser } from '../../machinery/user-info.js';
import type { Authenticator } from '../authenticator.js';

/**
 * Authenticates requests without credentials as system:anonymous. Requests with an invalid token are rejected before.
 */
export const anonymousAuthenticator: Authenticator = {
  name: 'anonymous',
  isLastResort: true,
  authenticate: ({ bearerToken }) => (bearerToken === undefined ? { user: anonymousUser } : undefined),
};
