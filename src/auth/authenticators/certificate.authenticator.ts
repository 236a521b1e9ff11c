import type { Authenticator } from '../authenticator.js';

/** Authenticates by the client certificate of the connection, which was verified against --client-ca-file. */
export const certificateAuthenticator: Authenticator = {
  name: 'certificate',
  authenticate: ({ certificateUser }) =>
    certificateUser === 'refused' ? 'rejected' : certificateUser && { user: certificateUser },
};
