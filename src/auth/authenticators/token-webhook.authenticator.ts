import { defineAuthenticator } from '../authenticator-definition.js';

/**
 * Authenticates bearer tokens that no authenticator before it has accepted, by a webhook. Tokens of any format are sent
 * to it, as in kube-apiserver.
 */
export const tokenWebhook = defineAuthenticator({
  name: 'token-webhook',
  make: ({ tokenWebhook: webhook }) =>
    webhook && {
      reads: 'bearer token',
      authenticate: ({ bearerToken, audiences, caller }) =>
        bearerToken === undefined ? undefined : webhook.authenticate(bearerToken, audiences, caller),
    },
});
