import type { KubeObject } from '../../machinery/kube-object.js';
import type { Clock } from '../../std/clock.js';
import type { NamedObject } from '../service-account-tokens.js';

export type TokenObjectResource = 'serviceaccounts' | 'pods' | 'secrets' | 'nodes';

/** How authenticators look at the objects that tokens depend on. */
export interface TokenObjects {
  /** From memory, perhaps a moment late. */
  cached(resource: TokenObjectResource, namespace: string, name: string): KubeObject | undefined;
  /** From the store, when memory does not agree with a token. */
  live(resource: TokenObjectResource, namespace: string, name: string): Promise<KubeObject | undefined>;
}

/** An object that is being deleted still vouches for its tokens so long: pods say good-bye with them. */
const leewayMs = 60_000;

export function vouches(
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
