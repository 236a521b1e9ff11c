/** Base cost of parsing, simplifying and compiling a pattern. */
const patternCost = 20;
/** Cost of a Unicode class such as \p{L}, whose table has hundreds of ranges. */
const unicodeClassCost = 30;
/**
 * Limit for all distinct patterns of a definition, which compile in less than 100 ms. Real definitions need some
 * thousand.
 */
export const patternCostMax = 30_000;

const repetition = /\{(\d{1,4})(?:,(\d{0,4}))?\}/y;

/** Estimates the number of instructions a pattern compiles to: a repeated group counts once for each repetition. */
export function costOfPattern(source: string): number {
  const groups: number[] = [];
  let sum = patternCost;
  let last = 0;
  for (let at = 0; at < source.length; at++) {
    const character = source[at]!;
    if (character === '(') {
      groups.push(sum);
      sum = 1;
      continue;
    }
    if (character === ')') {
      last = sum;
      sum = (groups.pop() ?? 0) + last;
      continue;
    }
    repetition.lastIndex = at;
    const repeat = character === '{' ? repetition.exec(source) : null;
    if (repeat) {
      sum += last * Math.max(0, Number(repeat[2] || repeat[1]) - 1);
      at += repeat[0].length - 1;
      continue;
    }
    const end = character === '[' ? endOfClass(source, at) : character === '\\' ? at + 1 : at;
    last = 1 + unicodeClassCost * (source.slice(at, end + 1).match(/\\[pP]/g)?.length ?? 0);
    sum += last;
    at = end;
  }
  for (const outer of groups) sum += outer;
  return sum;
}

function endOfClass(source: string, start: number): number {
  let at = start + 1;
  if (source[at] === '^') at++;
  if (source[at] === ']') at++;
  for (; at < source.length && source[at] !== ']'; at++) if (source[at] === '\\') at++;
  return at;
}

/**
 * Longer patterns take too long to parse. The longest ones in use, for addresses and schedules, have about 1,500
 * characters.
 */
export const patternCharactersMax = 10_000;
