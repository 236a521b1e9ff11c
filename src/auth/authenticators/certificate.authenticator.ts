import type { Authenticator } from '../authenticator.js';

/** The connection's client certificate, which the TLS layer has verified against the client CA. */
export const certificateAuthenticator: Authenticator = {
  name: 'certificate',
  authenticate: ({ certificateUser }) =>
    certificateUser === 'refused' ? 'rejected' : certificateUser && { user: certificateUser },
};
