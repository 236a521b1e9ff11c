/**
 * A watch may ask etcd how far it has come. Before 3.4.31 and 3.5.13 the answer could overtake events that were still
 * on their way (etcd issue 15220), or never come (17507); it is not to be believed there. The progress that etcd tells
 * by itself, every ten minutes, was always in order.
 */
const firstOrdered: Readonly<Record<string, number>> = { '3.4': 31, '3.5': 13 };

export function hasOrderedProgress(version: string): boolean {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined) return false;
  const first = firstOrdered[`${major}.${minor}`];
  return first === undefined ? Number(major) > 3 || (major === '3' && Number(minor) > 5) : Number(patch) >= first;
}
