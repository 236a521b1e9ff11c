import { goQuote } from '../../machinery/field-error.js';
import {
  allAuthenticated,
  serviceAccountGroups,
  serviceAccountUserName,
  type UserInfo,
} from '../../machinery/user-info.js';
import type { Clock } from '../../std/clock.js';
import type { AuthenticationNotes, AuthenticationResult, Authenticator } from '../authenticator.js';
import { defineAuthenticator, tokenChecks } from '../authenticator-definition.js';
import type { NamedObject, ServiceAccountTokens, TokenClaims } from '../service-account-tokens.js';
import type { TokenUses } from '../token-uses.js';
import { isSameAndAlive, type TokenObjectResource, type TokenObjects } from './token-objects.js';

interface Dependencies {
  readonly tokens: ServiceAccountTokens;
  readonly objects: TokenObjects;
  /** Audiences of tokens for this server. */
  readonly audiences: readonly string[];
  readonly labelDomain: string;
  /** `authentication.k8s.io`, prefix of audit annotations. */
  readonly authenticationGroup: string;
  readonly clock: Clock;
  /** True if a token becomes invalid when an object that it is bound to is deleted. */
  readonly looksUp: boolean;
  readonly uses: TokenUses;
}

/** Tolerated difference between the clocks of servers that share keys, as in kube-apiserver. */
const clockSkewSeconds = 60;

const invalidated = { rejected: 'service account token has been invalidated' };

export const serviceAccountToken = defineAuthenticator({
  name: 'service-account-token',
  make: ({ accountTokens: tokens, ...dependencies }) =>
    serviceAccountTokenAuthenticator({ ...tokenChecks(dependencies), tokens }),
});

/** Authenticates service account tokens of the TokenRequest API. */
export function serviceAccountTokenAuthenticator(dependencies: Dependencies): Authenticator {
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
  const { tokens, clock, looksUp } = dependencies;
  const claims = await tokens.read(token);
  if (claims === undefined) return undefined;
  if (claims === 'forged') return 'rejected';
  // A token without audiences is valid for this server.
  const named = claims.audiences.length > 0 ? claims.audiences : dependencies.audiences;
  const audiences = named.filter((audience) => requestedAudiences.includes(audience));
  if (audiences.length === 0) {
    return {
      rejected: `token audiences ${shown(named)} is invalid for the target audiences ${shown(requestedAudiences)}`,
    };
  }
  const problem = timeProblem(claims, clock);
  if (problem !== undefined) return { rejected: problem };
  const bound = looksUp ? boundObjects(claims) : [];
  if (!(await isBacked(bound, dependencies))) return invalidated;
  const isStillValid = () => timeProblem(claims, clock) === undefined && isBackedByCache(bound, dependencies);
  const notes = staleNotes(claims, dependencies);
  return { user: userOf(claims, dependencies.labelDomain), audiences, isStillValid, ...(notes && { notes }) };
}

function timeProblem({ notBefore, expiresAt, issuedAt }: TokenClaims, clock: Clock): string | undefined {
  const now = clock.now() / 1000;
  if (now + clockSkewSeconds < notBefore) return 'service account token is not valid yet';
  if (now - clockSkewSeconds > expiresAt) return 'service account token has expired';
  return now + clockSkewSeconds < issuedAt ? 'service account token is issued in the future' : undefined;
}

/** Counts the token if it should be renewed before it expires. Returns an audit annotation if that is overdue. */
function staleNotes(
  { warnAfter, namespace, account }: TokenClaims,
  { clock, uses, authenticationGroup }: Dependencies,
): AuthenticationNotes | undefined {
  if (warnAfter === 0) return undefined;
  const secondsLate = Math.floor(clock.now() / 1000) - warnAfter;
  if (secondsLate <= 0) {
    uses.valid++;
    return undefined;
  }
  uses.stale++;
  const subject = serviceAccountUserName(namespace, account.name);
  const text = `subject: ${subject}, seconds after warning threshold: ${secondsLate}`;
  return { annotations: { [`${authenticationGroup}/stale-token`]: text } };
}

interface BoundObject {
  readonly resource: TokenObjectResource;
  readonly namespace: string;
  readonly object: NamedObject;
}

/** Returns the ServiceAccount and the object that the token is bound to. The node of a Pod is informational. */
function boundObjects({ namespace, account, pod, secret, node }: TokenClaims): readonly BoundObject[] {
  const bound: readonly (readonly [TokenObjectResource, string, NamedObject | undefined])[] = [
    ['serviceaccounts', namespace, account],
    ['pods', namespace, pod],
    ['secrets', namespace, secret],
    ['nodes', '', pod || node?.uid === undefined ? undefined : { name: node.name, uid: node.uid }],
  ];
  return bound.flatMap(([resource, objectNamespace, object]) =>
    object ? [{ resource, namespace: objectNamespace, object }] : [],
  );
}

/** Runs for every request with a cached result: allocates nothing. */
function isBackedByCache(bound: readonly BoundObject[], { objects, clock }: Dependencies): boolean {
  for (const { resource, namespace, object } of bound) {
    if (!isSameAndAlive(objects.cached(resource, namespace, object.name), object, clock)) return false;
  }
  return true;
}

async function isBacked(bound: readonly BoundObject[], { objects, clock }: Dependencies): Promise<boolean> {
  for (const { resource, namespace, object } of bound) {
    if (isSameAndAlive(objects.cached(resource, namespace, object.name), object, clock)) continue;
    if (!isSameAndAlive(await objects.live(resource, namespace, object.name), object, clock)) return false;
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
