import { countLines } from './text-parts.js';

const editsMax = 1500;
const comparisonsMax = 20_000_000;
const linesAtOnce = 5_000;
const chunkLength = 65_536;

/**
 * Compares two texts by lines (Myers' algorithm): [{ type: 'same' | 'added' | 'removed' | 'skipped', text, count }], the
 * changed lines with some `around` them; `skipped` lines are counted. Texts with more differences than the bounds are
 * removed and added as a whole, so that the time stays bounded. A generator, for slices: texts may have megabytes.
 */
export function* changedLines(before, after, around = 3) {
  const start = commonStart(before, after);
  const end = commonEnd(before, after, start);
  yield;
  const head = lastLines(before, start, around);
  const tail = firstLines(before, end, around);
  const hiddenHead = countLines(before.slice(0, start)) - head.length;
  const hiddenTail = end === 0 ? 0 : countLines(before.slice(-end)) + 1 - tail.length;
  yield;
  const a = middleLines(before, start, end);
  const b = middleLines(after, start, end);
  yield;
  const middle = yield* edits(a, b);
  const shown = shortened([...head.map(same), ...middle, ...tail.map(same)], around);
  yield;
  return [...skipped(hiddenHead), ...shown, ...skipped(hiddenTail)].reduce(joinSkipped, []);
}

const same = (text) => ({ type: 'same', text });
const skipped = (count) => (count > 0 ? [{ type: 'skipped', text: '', count }] : []);

function joinSkipped(lines, line) {
  const last = lines.at(-1);
  if (line.type === 'skipped' && last?.type === 'skipped')
    lines[lines.length - 1] = { ...last, count: last.count + line.count };
  else lines.push(line);
  return lines;
}

/** Returns the length of the lines that both texts begin with. */
function commonStart(a, b) {
  const length = commonLength(a, b);
  return length === 0 || a === b ? 0 : a.lastIndexOf('\n', length - 1) + 1;
}

/** Returns the number of characters that both texts have at their beginning. Chunks are compared faster than characters. */
export function commonLength(a, b) {
  const max = Math.min(a.length, b.length);
  let length = 0;
  while (length + chunkLength <= max && a.slice(length, length + chunkLength) === b.slice(length, length + chunkLength))
    length += chunkLength;
  while (length < max && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  return length;
}

/** Returns the length of the lines that both texts end with, after the common start. */
function commonEnd(a, b, start) {
  const max = Math.min(a.length, b.length) - start;
  const chunkAt = (text, length) => text.slice(text.length - length - chunkLength, text.length - length);
  let length = 0;
  while (length + chunkLength <= max && chunkAt(a, length) === chunkAt(b, length)) length += chunkLength;
  while (length < max && a.charCodeAt(a.length - 1 - length) === b.charCodeAt(b.length - 1 - length)) length++;
  const isLineStart = (text) => text.length - length === start || text[text.length - length - 1] === '\n';
  if (isLineStart(a) && isLineStart(b)) return length;
  const newline = a.indexOf('\n', a.length - length);
  return newline < 0 ? 0 : a.length - newline - 1;
}

/** Returns the lines between the common start and the common end. Only an empty text has none. */
function middleLines(text, start, end) {
  if (end === 0) return text === '' ? [] : text.slice(start).split('\n');
  return text.length - end === start ? [] : text.slice(start, text.length - end - 1).split('\n');
}

/** Returns up to `count` lines that end before a position, which is the beginning of a line. */
function lastLines(text, position, count) {
  let begin = position;
  for (let found = 0; found < count && begin > 0; found++)
    begin = begin < 2 ? 0 : text.lastIndexOf('\n', begin - 2) + 1;
  return begin === position ? [] : text.slice(begin, position - 1).split('\n');
}

/** Returns up to `count` lines of the last `length` characters of a text. */
function firstLines(text, length, count) {
  if (length === 0) return [];
  const begin = text.length - length;
  let end = begin;
  for (let found = 0; found < count; found++) {
    const newline = text.indexOf('\n', end);
    if (newline < 0) return text.slice(begin).split('\n');
    end = newline + 1;
  }
  return text.slice(begin, end - 1).split('\n');
}

function* edits(a, b) {
  const trace = a.length > 0 && b.length > 0 ? yield* shortestTrace(a, b) : undefined;
  const result = [];
  if (!trace) {
    for (const [type, lines] of [
      ['removed', a],
      ['added', b],
    ]) {
      // prettier-ignore
      for (const text of lines) if (result.push({ type, text }) % linesAtOnce === 0) yield;
    }
    return result;
  }
  let [x, y] = [a.length, b.length];
  for (let d = trace.length - 1; d >= 0; d--) {
    const furthest = (diagonal) => trace[d][diagonal + d + 1];
    const k = x - y;
    const isDown = k === -d || (k !== d && furthest(k - 1) < furthest(k + 1));
    const previousK = isDown ? k + 1 : k - 1;
    const previousX = d === 0 ? 0 : furthest(previousK);
    const previousY = d === 0 ? 0 : previousX - previousK;
    while (x > previousX && y > previousY) {
      if (result.push(same(a[--x])) % linesAtOnce === 0) yield;
      y--;
    }
    if (d === 0) break;
    if (isDown) result.push({ type: 'added', text: b[--y] });
    else result.push({ type: 'removed', text: a[--x] });
  }
  return result.reverse();
}

/** Returns the furthest positions before each number of edits `d`, of the diagonals from -d - 1 on; undefined above a bound. */
function* shortestTrace(a, b) {
  const trace = [];
  const editsLimit = Math.min(editsMax, a.length + b.length);
  const middle = editsLimit + 1;
  const furthest = new Int32Array(2 * middle + 1);
  let comparisons = 0;
  for (let d = 0; d <= editsLimit && comparisons < comparisonsMax; d++) {
    trace.push(furthest.slice(middle - d - 1, middle + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const isDown = k === -d || (k !== d && furthest[middle + k - 1] < furthest[middle + k + 1]);
      let x = isDown ? furthest[middle + k + 1] : furthest[middle + k - 1] + 1;
      const from = x;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      comparisons += x - from + 1;
      furthest[middle + k] = x;
      if (x >= a.length && x - k >= b.length) return trace;
    }
    yield;
  }
  return undefined;
}

/** Leaves only the changed lines and some around them. */
function shortened(lines, around) {
  const isNear = new Uint8Array(lines.length);
  lines.forEach(({ type }, index) => {
    if (type === 'same') return;
    isNear.fill(1, Math.max(0, index - around), index + around + 1);
  });
  const result = [];
  for (let index = 0; index < lines.length; index++) {
    if (isNear[index]) result.push(lines[index]);
    else if (result.at(-1)?.type === 'skipped') result.at(-1).count++;
    else result.push(...skipped(1));
  }
  return result;
}
