import { defineAuthenticator } from '../authenticator-definition.js';

/**
 * Authenticates JSON Web Tokens of the issuers in --authentication-config, or of --oidc-issuer-url. Asked after service
 * account tokens: a token of an unknown key may cause a request to its issuer.
 */
export const jwt = defineAuthenticator({
  name: 'jwt',
  make: ({ jwtIssuers }) =>
    jwtIssuers && {
      reads: 'bearer token',
      authenticate: ({ bearerToken }) => (bearerToken === undefined ? undefined : jwtIssuers.authenticate(bearerToken)),
    },
});
