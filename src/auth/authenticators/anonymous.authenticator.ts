import { anonymousUser } from '../../machinery/user-info.js';
import type { Authenticator } from '../authenticator.js';

/** Last in the chain: a request without credentials is nobody's. One with a wrong token is not anonymous, it is refused. */
export const anonymousAuthenticator: Authenticator = {
  name: 'anonymous',
  isLastResort: true,
  authenticate: ({ bearerToken }) => (bearerToken === undefined ? { user: anonymousUser } : undefined),
};
