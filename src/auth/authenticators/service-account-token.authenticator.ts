import { goQuote } from '../../machinery/field-error.js';
import {
  allAuthenticated,
  serviceAccountGroups,
  serviceAccountUserName,
  type UserInfo,
} from '../../machinery/user-info.js';
import type { Clock } from '../../std/clock.js';
import type { AuthenticationResult, Authenticator } from '../authenticator.js';
import type { NamedObject, ServiceAccountTokens, TokenClaims } from '../service-account-tokens.js';
import { vouches, type TokenObjectResource, type TokenObjects } from './token-objects.js';

interface Parts {
  readonly tokens: ServiceAccountTokens;
  readonly objects: TokenObjects;
  /** What tokens for this server itself name as their audience. */
  readonly audiences: readonly string[];
  readonly labelDomain: string;
  readonly clock: Clock;
  /** Whether a token ends with the objects that it is bound to. */
  readonly looksUp: boolean;
}

const invalidated = { rejected: 'service account token has been invalidated' };

export function serviceAccountTokenAuthenticator(parts: Parts): Authenticator {
  return {
    name: 'service-account-token',
    authenticate({ bearerToken, audiences: asked }) {
      if (bearerToken === undefined) return undefined;
      return review(bearerToken, asked ?? parts.audiences, parts);
    },
  };
}

async function review(token: string, asked: readonly string[], parts: Parts): Promise<AuthenticationResult> {
  const claims = await parts.tokens.read(token);
  if (claims === undefined) return undefined;
  if (claims === 'forged') return 'rejected';
  // Tokens of before audiences were named are for the server itself.
  const named = claims.audiences.length > 0 ? claims.audiences : parts.audiences;
  const audiences = named.filter((audience) => asked.includes(audience));
  if (audiences.length === 0) {
    return { rejected: `token audiences ${shown(named)} is invalid for the target audiences ${shown(asked)}` };
  }
  const problem = timeProblem(claims, parts.clock);
  if (problem !== undefined) return { rejected: problem };
  if (parts.looksUp && !(await isBacked(claims, parts))) return invalidated;
  const isStillTrue = () =>
    timeProblem(claims, parts.clock) === undefined && (!parts.looksUp || isBackedByCache(claims, parts));
  return { user: userOf(claims, parts.labelDomain), audiences, isStillTrue };
}

function timeProblem({ notBefore, expiresAt }: TokenClaims, clock: Clock): string | undefined {
  const now = clock.now() / 1000;
  if (now >= expiresAt) return 'service account token has expired';
  return now < notBefore ? 'service account token is not valid yet' : undefined;
}

/** The account, and the one object that the token is bound to: a pod's node is only told, not asked. */
function backing({ namespace, account, pod, secret, node }: TokenClaims) {
  const bound: readonly (readonly [TokenObjectResource, string, NamedObject | undefined])[] = [
    ['serviceaccounts', namespace, account],
    ['pods', namespace, pod],
    ['secrets', namespace, secret],
    ['nodes', '', pod || node?.uid === undefined ? undefined : { name: node.name, uid: node.uid }],
  ];
  return bound.flatMap(([resource, home, object]) => (object ? [{ resource, home, object }] : []));
}

function isBackedByCache(claims: TokenClaims, { objects, clock }: Parts): boolean {
  return backing(claims).every(({ resource, home, object }) =>
    vouches(objects.cached(resource, home, object.name), object, clock),
  );
}

async function isBacked(claims: TokenClaims, { objects, clock }: Parts): Promise<boolean> {
  for (const { resource, home, object } of backing(claims)) {
    if (vouches(objects.cached(resource, home, object.name), object, clock)) continue;
    if (!vouches(await objects.live(resource, home, object.name), object, clock)) return false;
  }
  return true;
}

function userOf({ namespace, account, id, pod, node }: TokenClaims, labelDomain: string): UserInfo {
  const key = (name: string) => `authentication.${labelDomain}/${name}`;
  return {
    name: serviceAccountUserName(namespace, account.name),
    uid: account.uid,
    groups: [...serviceAccountGroups(namespace), allAuthenticated],
    extra: {
      ...(id !== '' && { [key('credential-id')]: [`JTI=${id}`] }),
      ...(pod && { [key('pod-name')]: [pod.name], [key('pod-uid')]: [pod.uid] }),
      ...(node && { [key('node-name')]: [node.name], ...(node.uid && { [key('node-uid')]: [node.uid] }) }),
    },
  };
}

const shown = (texts: readonly string[]): string => `[${texts.map(goQuote).join(' ')}]`;
