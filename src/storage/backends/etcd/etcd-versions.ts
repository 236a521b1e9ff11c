/**
 * Differences between etcd versions, both about watches.
 *
 * Progress requests: before 3.4.31 and 3.5.13 the response could overtake events (etcd issue 15220), or never come
 * (17507). The progress notifications that etcd sends every ten minutes were always in order.
 *
 * Compaction keeps the events of its own revision, but before 3.4.36 and 3.5.18 not always a deletion (18089, 19179): a
 * watch that begins there could miss it.
 */
export interface EtcdTraits {
  readonly hasOrderedProgress: boolean;
  readonly keepsDeletionAtFloor: boolean;
}

export function traitsOf(version: string): EtcdTraits {
  return {
    hasOrderedProgress: isFrom(version, { '3.4': 31, '3.5': 13 }),
    keepsDeletionAtFloor: isFrom(version, { '3.4': 36, '3.5': 18 }),
  };
}

/** Minor versions above the listed ones have the fix from their first release. */
function isFrom(version: string, firstPatch: Readonly<Record<string, number>>): boolean {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined) return false;
  const first = firstPatch[`${major}.${minor}`];
  return first === undefined ? Number(major) > 3 || (major === '3' && Number(minor) > 5) : Number(patch) >= first;
}
