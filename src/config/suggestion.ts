/** Returns `; did you mean <name>?` with the nearest known name, written as the flag takes it; '' if none is near. */
export function didYouMean(name: string, known: Iterable<string>, written = (meant: string) => meant): string {
  const meant = nearest(name, known);
  return meant === undefined ? '' : `; did you mean ${written(meant)}?`;
}

/** Returns the known name with the smallest edit distance, undefined if none is near. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(name, candidate);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/**
 * Returns the number of insertions, deletions, replacements and swaps of neighbours that turn one text into the other.
 */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, beforeLast[column - 2]! + 1);
      }
      current.push(cost);
    }
    [beforeLast, last] = [last, current];
  }
  return last[b.length]!;
}
