import type { Authenticator } from '../authenticator.js';
import { defineAuthenticator } from '../authenticator-definition.js';

/** Authenticates by the client certificate of the connection, which was verified against --client-ca-file. */
const certificateAuthenticator: Authenticator = {
  reads: 'request',
  authenticate: ({ certificateUser }) =>
    certificateUser === 'refused' ? 'rejected' : certificateUser && { user: certificateUser },
};

export const certificate = defineAuthenticator({ name: 'certificate', make: () => certificateAuthenticator });
