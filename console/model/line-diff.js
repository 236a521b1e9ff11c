const editsMax = 1500;

/**
 * Compares two texts by lines (Myers' algorithm): [{ type: 'same' | 'added' | 'removed', text }]. Texts with more
 * differences than the bound are shown as removed and added as a whole, so that the time stays bounded.
 */
export function lineDiff(before, after) {
  const [a, b] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const same = (lines) => lines.map((text) => ({ type: 'same', text }));
  return [
    ...same(a.slice(0, start)),
    ...edits(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(a.slice(a.length - end)),
  ];
}

const linesOf = (text) => (text === '' ? [] : text.split('\n'));

function edits(a, b) {
  const trace = a.length > 0 && b.length > 0 ? shortestTrace(a, b) : undefined;
  if (!trace) return [...a.map((text) => ({ type: 'removed', text })), ...b.map((text) => ({ type: 'added', text }))];
  const result = [];
  let [x, y] = [a.length, b.length];
  for (let d = trace.length - 1; d >= 0; d--) {
    const furthest = (diagonal) => trace[d][diagonal + d + 1];
    const k = x - y;
    const isDown = k === -d || (k !== d && furthest(k - 1) < furthest(k + 1));
    const previousK = isDown ? k + 1 : k - 1;
    const previousX = d === 0 ? 0 : furthest(previousK);
    const previousY = d === 0 ? 0 : previousX - previousK;
    while (x > previousX && y > previousY) {
      result.push({ type: 'same', text: a[--x] });
      y--;
    }
    if (d === 0) break;
    if (isDown) result.push({ type: 'added', text: b[--y] });
    else result.push({ type: 'removed', text: a[--x] });
  }
  return result.reverse();
}

/** Returns the furthest positions before each number of edits `d`, of the diagonals from -d - 1 on; undefined above the bound. */
function shortestTrace(a, b) {
  const trace = [];
  const editsLimit = Math.min(editsMax, a.length + b.length);
  const middle = editsLimit + 1;
  const furthest = new Int32Array(2 * middle + 1);
  for (let d = 0; d <= editsLimit; d++) {
    trace.push(furthest.slice(middle - d - 1, middle + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const isDown = k === -d || (k !== d && furthest[middle + k - 1] < furthest[middle + k + 1]);
      let x = isDown ? furthest[middle + k + 1] : furthest[middle + k - 1] + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      furthest[middle + k] = x;
      if (x >= a.length && x - k >= b.length) return trace;
    }
  }
  return undefined;
}

/** Leaves only the changed lines and some around them; `skipped` lines are counted. */
export function shortened(lines, around = 3) {
  const isNear = new Uint8Array(lines.length);
  lines.forEach(({ type }, index) => {
    if (type === 'same') return;
    isNear.fill(1, Math.max(0, index - around), index + around + 1);
  });
  const result = [];
  for (let index = 0; index < lines.length; index++) {
    if (isNear[index]) result.push(lines[index]);
    else if (result.at(-1)?.type === 'skipped') result.at(-1).count++;
    else result.push({ type: 'skipped', text: '', count: 1 });
  }
  return result;
}
