import { timingSafeEqual } from 'node:crypto';
import { asFields, asText } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { allAuthenticated, serviceAccountGroups, serviceAccountUserName } from '../../machinery/user-info.js';
import type { Clock } from '../../std/clock.js';
import type { AuthenticationResult, Authenticator } from '../authenticator.js';
import type { SecretTokenClaims, SecretTokens } from '../secret-tokens.js';
import { isAlive, vouches, type TokenObjects } from './token-objects.js';

interface Parts {
  readonly tokens: SecretTokens;
  readonly objects: TokenObjects;
  readonly audiences: readonly string[];
  readonly labelDomain: string;
  readonly clock: Clock;
  /** Whether a token ends with its Secret and its account. */
  readonly looksUp: boolean;
}

/** Tokens that stand in Secrets. They name no audience: they are for this server. */
export function secretTokenAuthenticator(parts: Parts): Authenticator {
  return {
    name: 'secret-token',
    authenticate({ bearerToken, audiences: asked }) {
      return bearerToken === undefined ? undefined : review(bearerToken, asked ?? parts.audiences, parts);
    },
  };
}

async function review(token: string, asked: readonly string[], parts: Parts): Promise<AuthenticationResult> {
  const claims = await parts.tokens.read(token);
  if (claims === undefined) return undefined;
  const audiences = parts.audiences.filter((audience) => asked.includes(audience));
  if (claims === 'forged' || audiences.length === 0) return 'rejected';
  const { namespace, account } = claims;
  const user = {
    name: serviceAccountUserName(namespace, account.name),
    uid: account.uid,
    groups: [...serviceAccountGroups(namespace), allAuthenticated],
    extra: {},
  };
  if (!parts.looksUp) return { user, audiences };
  const isStillTrue = () => isBacked(token, claims, parts, cachedBacking(claims, parts));
  if (!isStillTrue() && !isBacked(token, claims, parts, await liveBacking(claims, parts))) {
    return { rejected: 'service account token has been invalidated' };
  }
  return { user, audiences, isStillTrue };
}

interface Backing {
  readonly secret: KubeObject | undefined;
  readonly account: KubeObject | undefined;
}

function cachedBacking({ namespace, account, secretName }: SecretTokenClaims, { objects }: Parts): Backing {
  return {
    secret: objects.cached('secrets', namespace, secretName),
    account: objects.cached('serviceaccounts', namespace, account.name),
  };
}

async function liveBacking(
  { namespace, account, secretName }: SecretTokenClaims,
  { objects }: Parts,
): Promise<Backing> {
  const [secret, found] = await Promise.all([
    objects.live('secrets', namespace, secretName),
    objects.live('serviceaccounts', namespace, account.name),
  ]);
  return { secret, account: found };
}

function isBacked(token: string, claims: SecretTokenClaims, { clock, labelDomain }: Parts, backing: Backing): boolean {
  const { secret, account } = backing;
  if (!secret || !isAlive(secret, clock) || !vouches(account, claims.account, clock)) return false;
  // Set on tokens that nobody has used for long, before they go.
  if (secret.metadata.labels?.[`${labelDomain}/legacy-token-invalid-since`] !== undefined) return false;
  const copy = Buffer.from(asText(asFields(secret['data'])['token']), 'base64');
  const given = Buffer.from(token);
  return copy.length === given.length && timingSafeEqual(copy, given);
}
