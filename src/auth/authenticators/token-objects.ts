import type { KubeObject } from '../../machinery/kube-object.js';
import type { Clock } from '../../std/clock.js';
import type { NamedObject } from '../service-account-tokens.js';

export type TokenObjectResource = 'serviceaccounts' | 'pods' | 'secrets' | 'nodes';

/** Reads the objects that tokens are bound to. */
export interface TokenObjects {
  /** Reads from the cache, which may be slightly stale. */
  cached(resource: TokenObjectResource, namespace: string, name: string): KubeObject | undefined;
  /** Reads from the store, if the cached object does not match the token. */
  live(resource: TokenObjectResource, namespace: string, name: string): Promise<KubeObject | undefined>;
}

/** Time after deletionTimestamp in which tokens stay valid, since terminating Pods still use them. */
const leewayMs = 60_000;

/** True if the object exists with the uid in the token, and has not been deleted for more than leewayMs. */
export function isSameAndAlive(
  found: KubeObject | undefined,
  { uid }: Pick<NamedObject, 'uid'>,
  clock: Clock,
): found is KubeObject {
  return found !== undefined && found.metadata.uid === uid && isAlive(found, clock);
}

export function isAlive({ metadata }: KubeObject, clock: Clock): boolean {
  const { deletionTimestamp } = metadata;
  return deletionTimestamp === undefined || Date.parse(deletionTimestamp) > clock.now() - leewayMs;
}
