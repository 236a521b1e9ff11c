import { goQuoteWhole, shortenedValue } from './go-quote.js';

/**
 * Returns a unified diff of two values as indented JSON, with three lines of context, for messages about forbidden
 * changes. Blocks are matched like difflib, longest first.
 */
export function jsonDiff(before: unknown, after: unknown): string {
  if (lineCount(before) * lineCount(after) > comparisonsMax) return '';
  const [from, to] = [jsonLines(before), jsonLines(after)];
  const edits = editsOf(...numbered(from, to));
  const text = hunksOf(edits)
    .map((hunk) => hunkText(hunk, from, to))
    .join('');
  return shortenedValue(text);
}

/** Two objects of five hundred lines each. */
const comparisonsMax = 250_000;
const contextLines = 3;

/** Returns the number of lines of jsonLines(); of more than comparisonsMax, some number above it. */
function lineCount(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  const items: unknown[] = Array.isArray(value) ? value : Object.values(value);
  let lines = items.length === 0 ? 1 : 2;
  for (const item of items) {
    lines += lineCount(item);
    if (lines > comparisonsMax) break;
  }
  return lines;
}

function jsonLines(value: unknown, indent = '', head = ''): string[] {
  if (typeof value !== 'object' || value === null) return [`${indent}${head}${scalarText(value)}`];
  const isList = Array.isArray(value);
  const inner = `${indent} `;
  const parts = isList
    ? value.map((item) => jsonLines(item, inner))
    : Object.entries(value).map(([key, item]) => jsonLines(item, inner, `${goQuoteWhole(key)}: `));
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  if (parts.length === 0) return [`${indent}${head}${open}${close}`];
  const lines = parts.flatMap((part, i) => (i < parts.length - 1 ? [...part.slice(0, -1), `${part.at(-1)!},`] : part));
  return [`${indent}${head}${open}`, ...lines, `${indent}${close}`];
}

function scalarText(value: unknown): string {
  if (typeof value === 'string') return goQuoteWhole(value);
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : 'null';
}

/** Replaces equal lines by equal numbers, since lines are compared pair by pair and may have megabytes. */
function numbered(from: readonly string[], to: readonly string[]): [number[], number[]] {
  const numbers = new Map<string, number>();
  const numberOf = (line: string): number => {
    const known = numbers.get(line);
    if (known === undefined) numbers.set(line, numbers.size);
    return known ?? numbers.size - 1;
  };
  return [from.map(numberOf), to.map(numberOf)];
}

/** Lines `fromStart`…`fromEnd` of `from` correspond to lines `toStart`…`toEnd` of `to`. */
interface Edit {
  readonly isSame: boolean;
  readonly fromStart: number;
  readonly fromEnd: number;
  readonly toStart: number;
  readonly toEnd: number;
}

function editsOf(from: readonly number[], to: readonly number[]): Edit[] {
  const edits: Edit[] = [];
  let [a, b] = [0, 0];
  const upTo = (fromEnd: number, toEnd: number) => {
    if (a < fromEnd || b < toEnd) edits.push({ isSame: false, fromStart: a, fromEnd, toStart: b, toEnd });
  };
  for (const { at, by, length } of matches(from, to, 0, from.length, 0, to.length)) {
    upTo(at, by);
    const last = edits.at(-1);
    [a, b] = [at + length, by + length];
    if (last?.isSame) edits[edits.length - 1] = { ...last, fromEnd: a, toEnd: b };
    else edits.push({ isSame: true, fromStart: at, fromEnd: a, toStart: by, toEnd: b });
  }
  upTo(from.length, to.length);
  return edits;
}

interface Match {
  readonly at: number;
  readonly by: number;
  readonly length: number;
}

function matches(
  from: readonly number[],
  to: readonly number[],
  fromStart: number,
  fromEnd: number,
  toStart: number,
  toEnd: number,
): Match[] {
  const longest = longestMatch(from, to, fromStart, fromEnd, toStart, toEnd);
  if (longest.length === 0) return [];
  const { at, by, length } = longest;
  return [
    ...matches(from, to, fromStart, at, toStart, by),
    longest,
    ...matches(from, to, at + length, fromEnd, by + length, toEnd),
  ];
}

/** Returns the first of the longest common runs of lines. */
function longestMatch(
  from: readonly number[],
  to: readonly number[],
  fromStart: number,
  fromEnd: number,
  toStart: number,
  toEnd: number,
): Match {
  let best: Match = { at: fromStart, by: toStart, length: 0 };
  // Maps a line of `to` to the length of the common run that ends there and at the current line of `from`.
  let runs = new Map<number, number>();
  for (let i = fromStart; i < fromEnd; i++) {
    const next = new Map<number, number>();
    for (let j = toStart; j < toEnd; j++) {
      if (from[i] !== to[j]) continue;
      const length = (runs.get(j - 1) ?? 0) + 1;
      next.set(j, length);
      if (length > best.length) best = { at: i - length + 1, by: j - length + 1, length };
    }
    runs = next;
  }
  return best;
}

/** Groups changes with their context; nearby changes share a hunk. */
function hunksOf(edits: readonly Edit[]): Edit[][] {
  const hunks: Edit[][] = [];
  let hunk: Edit[] = [];
  for (const [index, edit] of edits.entries()) {
    if (!edit.isSame) {
      hunk.push(edit);
      continue;
    }
    const isFirst = index === 0;
    const isLast = index === edits.length - 1;
    const length = edit.fromEnd - edit.fromStart;
    if (!isFirst && (isLast || length > 2 * contextLines)) {
      hunk.push(cut(edit, 0, Math.min(length, contextLines)));
      hunks.push(hunk);
      hunk = [];
    }
    if (isLast) continue;
    if (hunk.length > 0) hunk.push(edit);
    else hunk.push(cut(edit, Math.max(0, length - contextLines), length));
  }
  if (hunk.some(({ isSame }) => !isSame)) hunks.push(hunk);
  return hunks.filter((it) => it.some(({ isSame }) => !isSame));
}

function cut(edit: Edit, start: number, end: number): Edit {
  const { fromStart, toStart } = edit;
  return {
    isSame: true,
    fromStart: fromStart + start,
    fromEnd: fromStart + end,
    toStart: toStart + start,
    toEnd: toStart + end,
  };
}

function hunkText(hunk: readonly Edit[], from: readonly string[], to: readonly string[]): string {
  const [first, last] = [hunk[0]!, hunk.at(-1)!];
  const range = (start: number, end: number) =>
    end - start === 1 ? `${start + 1}` : `${end === start ? start : start + 1},${end - start}`;
  const lines = hunk.flatMap(({ isSame, fromStart, fromEnd, toStart, toEnd }) => {
    const old = from.slice(fromStart, fromEnd);
    return isSame
      ? old.map((line) => ` ${line}`)
      : [...old.map((line) => `-${line}`), ...to.slice(toStart, toEnd).map((line) => `+${line}`)];
  });
  const head = `@@ -${range(first.fromStart, last.fromEnd)} +${range(first.toStart, last.toEnd)} @@`;
  return [head, ...lines, ''].join('\n');
}
