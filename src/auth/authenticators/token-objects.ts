import type { EncodedObject } from '../../cache/encoded-object.js';
import type { Clock } from '../../std/clock.js';
import type { NamedObject } from '../service-account-tokens.js';

export type TokenObjectResource = 'serviceaccounts' | 'pods' | 'secrets' | 'nodes';

/** An object that a token is bound to. Requests with a cached token compare its attributes, and rarely parse it. */
export type TokenObject = Pick<EncodedObject, 'attributes' | 'parse'>;

/** Reads the objects that tokens are bound to. An object that cannot be decoded counts as absent. */
export interface TokenObjects {
  /** Reads from the cache, which may be slightly stale. */
  cached(resource: TokenObjectResource, namespace: string, name: string): TokenObject | undefined;
  /** Reads from the store, if the cached object does not match the token. */
  live(resource: TokenObjectResource, namespace: string, name: string): Promise<TokenObject | undefined>;
}

/** Time after deletionTimestamp in which tokens stay valid, since terminating Pods still use them. */
const leewayMs = 60_000;

/** True if the object exists with the uid in the token, and has not been deleted for more than leewayMs. */
export function isSameAndAlive(
  found: TokenObject | undefined,
  { uid }: Pick<NamedObject, 'uid'>,
  clock: Clock,
): found is TokenObject {
  return found !== undefined && found.attributes.uid === uid && isAlive(found, clock);
}

export function isAlive(object: TokenObject, clock: Clock): boolean {
  if (!object.attributes.lifetime?.isDeleting) return true;
  const { deletionTimestamp } = object.parse().metadata;
  return deletionTimestamp === undefined || Date.parse(deletionTimestamp) > clock.now() - leewayMs;
}
