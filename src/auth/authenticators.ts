import { allAuthenticated } from '../machinery/user-info.js';
import { isAuthenticated, type AuthenticationResult, type Authenticator } from './authenticator.js';
import type { AuthenticatorDefinition, AuthenticatorDependencies } from './authenticator-definition.js';
import { anonymous } from './authenticators/anonymous.authenticator.js';
import { bootstrapToken } from './authenticators/bootstrap-token.authenticator.js';
import { certificate } from './authenticators/certificate.authenticator.js';
import { jwt } from './authenticators/jwt.authenticator.js';
import { requestHeader } from './authenticators/request-header.authenticator.js';
import { secretToken } from './authenticators/secret-token.authenticator.js';
import { serviceAccountToken } from './authenticators/service-account-token.authenticator.js';
import { tokenFile } from './authenticators/token-file.authenticator.js';
import { tokenWebhook } from './authenticators/token-webhook.authenticator.js';

/** Built-in authenticators that decide by themselves, in the order of their use: front proxy, client certificate, tokens. */
const localAuthenticators = [
  requestHeader,
  certificate,
  tokenFile,
  serviceAccountToken,
  secretToken,
  bootstrapToken,
  jwt,
] as const satisfies readonly AuthenticatorDefinition[];

/**
 * Creates the authenticators in the order of their use: built-in ones, those of an embedding program, and the anonymous
 * one. As in kube-apiserver, users of an embedding program are in the group system:authenticated, and the webhook gets
 * only tokens that nothing else accepted. All that only read the token come before the program's others, since their
 * results are remembered for the token.
 */
export function makeAuthenticators(
  own: readonly AuthenticatorDefinition[],
  dependencies: AuthenticatorDependencies,
): readonly Authenticator[] {
  const names = [...localAuthenticators, tokenWebhook, anonymous, ...own].map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new Error(`authenticator ${twice} is defined twice; give one of the two another name`);
  const made = (definition: AuthenticatorDefinition) => definition.make(dependencies) ?? [];
  const added = own.flatMap(made).map(withAuthenticatedGroup);
  const ofTokens = ({ reads }: Authenticator) => reads === 'bearer token';
  return [
    ...localAuthenticators.flatMap(made),
    ...added.filter(ofTokens),
    ...[tokenWebhook].flatMap(made),
    ...added.filter((authenticator) => !ofTokens(authenticator)),
    ...[anonymous].flatMap(made),
  ];
}

function withAuthenticatedGroup(authenticator: Authenticator): Authenticator {
  return {
    ...authenticator,
    authenticate: async (credentials) => inAuthenticatedGroup(await authenticator.authenticate(credentials)),
  };
}

function inAuthenticatedGroup(result: AuthenticationResult): AuthenticationResult {
  if (!isAuthenticated(result) || result.user.groups.includes(allAuthenticated)) return result;
  return { ...result, user: { ...result.user, groups: [...result.user.groups, allAuthenticated] } };
}
