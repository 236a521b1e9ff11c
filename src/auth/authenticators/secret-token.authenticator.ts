import { timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../catalog/types/core.v1.js';
import { allAuthenticated, serviceAccountGroups, serviceAccountUserName } from '../../machinery/user-info.js';
import type { Clock } from '../../std/clock.js';
import type { AuthenticationResult, Authenticator } from '../authenticator.js';
import { defineAuthenticator, tokenChecks } from '../authenticator-definition.js';
import type { SecretTokenClaims, SecretTokens } from '../secret-tokens.js';
import { isAlive, isSameAndAlive, type TokenObject, type TokenObjects } from './token-objects.js';

interface Dependencies {
  readonly tokens: SecretTokens;
  readonly objects: TokenObjects;
  readonly audiences: readonly string[];
  readonly labelDomain: string;
  readonly clock: Clock;
  /** True if a token becomes invalid when its Secret or ServiceAccount is deleted. */
  readonly looksUp: boolean;
}

export const secretToken = defineAuthenticator({
  name: 'secret-token',
  make: ({ secretTokens: tokens, ...dependencies }) =>
    secretTokenAuthenticator({ ...tokenChecks(dependencies), tokens }),
});

/**
 * Authenticates service account tokens stored in Secrets. They have no audiences and are valid for this server only.
 */
export function secretTokenAuthenticator(dependencies: Dependencies): Authenticator {
  return {
    reads: 'bearer token',
    authenticate({ bearerToken, audiences }) {
      if (bearerToken === undefined) return undefined;
      return review(bearerToken, audiences ?? dependencies.audiences, dependencies);
    },
  };
}

async function review(
  token: string,
  requestedAudiences: readonly string[],
  dependencies: Dependencies,
): Promise<AuthenticationResult> {
  const claims = await dependencies.tokens.read(token);
  if (claims === undefined) return undefined;
  const audiences = dependencies.audiences.filter((audience) => requestedAudiences.includes(audience));
  if (claims === 'forged' || audiences.length === 0) return 'rejected';
  const { namespace, account } = claims;
  const user = {
    name: serviceAccountUserName(namespace, account.name),
    uid: account.uid,
    groups: [...serviceAccountGroups(namespace), allAuthenticated],
    extra: {},
  };
  if (!dependencies.looksUp) return { user, audiences };
  const isTokenOf = tokenComparison(token);
  const isStillValid = () => isBacked(claims, dependencies, cachedBacking(claims, dependencies), isTokenOf);
  if (!isStillValid() && !isBacked(claims, dependencies, await liveBacking(claims, dependencies), isTokenOf)) {
    return { rejected: 'service account token has been invalidated' };
  }
  return { user, audiences, isStillValid };
}

/** The objects that a token depends on. */
interface Backing {
  readonly secret: TokenObject | undefined;
  readonly account: TokenObject | undefined;
}

function cachedBacking({ namespace, account, secretName }: SecretTokenClaims, { objects }: Dependencies): Backing {
  return {
    secret: objects.cached('secrets', namespace, secretName),
    account: objects.cached('serviceaccounts', namespace, account.name),
  };
}

async function liveBacking(
  { namespace, account, secretName }: SecretTokenClaims,
  { objects }: Dependencies,
): Promise<Backing> {
  const [secret, found] = await Promise.all([
    objects.live('secrets', namespace, secretName),
    objects.live('serviceaccounts', namespace, account.name),
  ]);
  return { secret, account: found };
}

function isBacked(
  claims: SecretTokenClaims,
  { clock, labelDomain }: Dependencies,
  { secret, account }: Backing,
  isTokenOf: (secret: TokenObject) => boolean,
): boolean {
  if (!secret || !isAlive(secret, clock) || !isSameAndAlive(account, claims.account, clock)) return false;
  // Set on long unused tokens before they are deleted.
  if (secret.attributes.labels?.[`${labelDomain}/legacy-token-invalid-since`] !== undefined) return false;
  return isTokenOf(secret);
}

/** Returns a function that is true for Secrets which contain the token. It parses each state of a Secret once. */
function tokenComparison(token: string): (secret: TokenObject) => boolean {
  const submitted = Buffer.from(token);
  let known: { readonly secret: TokenObject; readonly isEqual: boolean } | undefined;
  return (secret) => {
    if (known?.secret !== secret) {
      const { data }: Secret = secret.parse();
      const copy = Buffer.from(data?.['token'] ?? '', 'base64');
      known = { secret, isEqual: copy.length === submitted.length && timingSafeEqual(copy, submitted) };
    }
    return known.isEqual;
  };
}
