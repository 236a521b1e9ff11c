/**
 * What a member can be relied on for, by its version. Both concern watches alone.
 *
 * A watch may ask how far etcd has come. Before 3.4.31 and 3.5.13 the answer could overtake events that were still on
 * their way (etcd issue 15220), or never come (17507). The progress that etcd tells by itself, every ten minutes, was
 * always in order.
 *
 * Compaction keeps what happened at its own revision, but before 3.4.36 and 3.5.18 not always a deletion (18089,
 * 19179): a watch that begins there could miss it.
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

/** Minor versions above the listed ones have had it from the start. */
function isFrom(version: string, firstPatch: Readonly<Record<string, number>>): boolean {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined) return false;
  const first = firstPatch[`${major}.${minor}`];
  return first === undefined ? Number(major) > 3 || (major === '3' && Number(minor) > 5) : Number(patch) >= first;
}
