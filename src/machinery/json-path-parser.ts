import type { Step, Steps } from './json-path-steps.js';

/** Limits of nesting in filters and unions, and of length. */
const depthMax = 8;
const lengthMax = 10_000;

class PathSyntaxError extends Error {}

/** Returns the steps of a path; undefined if the text is not a path. */
export function parseSteps(text: string): Steps | undefined {
  if (text.length > lengthMax) return undefined;
  try {
    return new PathParser(text, 0).parse();
  } catch (error) {
    if (error instanceof PathSyntaxError) return undefined;
    throw error;
  }
}

const space = /[ @$]+/y;
const filter = /\[\?\(((?:"(?:\\[^\n]|[^"\\\n])*"|'(?:\\[^\n]|[^'\\\n])*'|[^)"'\n])*)\)\]/y;
const brackets = /\[([^\]\n]*)\]/y;
const recursion = /\.\.(?=([\p{L}\p{Nd}_])?)/uy;
const field = /\.?((?:\\[^]?|[^ \t\r\n.,[\]$@{}\\])*)/y;
const quoted = /"((?:\\[^\n]|[^"\\\n])*)"|'((?:\\[^\n]|[^'\\\n])*)'/y;
const number = /[+-]?[\d.]+/y;
const word = /[\p{L}_][^ \t\r\n.,[\]$@{}]*/uy;

const comparison = /^([^!<>=]+)([!<>=]+)([^!<>=][^]*)$/;
const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/;
const name = /^'([^']*)'$/;
const slice = /^(-?\d*)(?::(-?\d*))?(?::(-?\d*))?$/;

/**
 * Parses kubectl's JSONPath dialect without template braces. `$` and `@` are equal and optional: a path starts at its
 * input, a path in a filter at the item.
 */
class PathParser {
  private at = 0;
  private readonly steps: Step[] = [];

  constructor(
    private readonly text: string,
    private readonly depth: number,
  ) {
    if (depth > depthMax) throw new PathSyntaxError();
  }

  parse(): Steps {
    while (this.at < this.text.length) this.next();
    return this.steps;
  }

  private next(): void {
    if (this.take(space)) return;
    const first = this.text.charAt(this.at);
    if (first === '[') return this.inBrackets();
    if (first === '.') return this.afterDot();
    const text = this.take(quoted);
    if (text) return this.add({ step: 'literal', value: unescaped(text[1] ?? text[2] ?? '') });
    const digits = this.take(number);
    if (digits) return this.add({ step: 'literal', value: numberOf(digits[0]) });
    const found = this.take(word)?.[0];
    if (found === undefined) throw new PathSyntaxError();
    this.add(
      found === 'true' || found === 'false' ? { step: 'literal', value: found === 'true' } : { step: 'unknown' },
    );
  }

  private afterDot(): void {
    const recursive = this.take(recursion);
    if (recursive) {
      if (this.steps.at(-1)?.step === 'recursive') throw new PathSyntaxError();
      this.add({ step: 'recursive' });
      if (recursive[1] === undefined) return;
    }
    const found = this.take(field)?.[1] ?? '';
    this.add(found === '*' ? { step: 'wildcard' } : { step: 'field', name: found.replaceAll('\\', '') });
  }

  private inBrackets(): void {
    const condition = this.take(filter)?.[1];
    if (condition !== undefined) return this.add(this.filterOf(condition));
    const inside = this.take(brackets)?.[1];
    if (inside === undefined) throw new PathSyntaxError();
    const parts = inside.split(',');
    if (parts.length > 1) {
      this.add({ step: 'union', of: parts.map((part) => this.inner(`[${part.trim()}]`)) });
      return;
    }
    const quotedName = name.exec(inside)?.[1];
    if (quotedName !== undefined) this.steps.push(...this.inner(`.${quotedName}`));
    else this.add(sliceOf(inside));
  }

  private filterOf(condition: string): Step {
    const [, left, operator, right] = comparison.exec(condition) ?? [];
    if (left === undefined || operator === undefined || right === undefined) {
      return { step: 'exists', path: this.inner(condition) };
    }
    return { step: 'filter', left: this.inner(left), operator, right: this.inner(right) };
  }

  private inner(text: string): Steps {
    return new PathParser(text, this.depth + 1).parse();
  }

  private add(step: Step): void {
    this.steps.push(step);
  }

  private take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found) this.at = pattern.lastIndex;
    return found;
  }
}

function numberOf(text: string): number {
  if (!decimal.test(text)) throw new PathSyntaxError();
  return Number(text);
}

/** `*`, `2`, `-1`, `1:3`, `::2` */
function sliceOf(text: string): Step {
  if (text === '*') return { step: 'slice', from: 0, to: undefined, every: 1 };
  const [found, from = '', to, every = ''] = slice.exec(text) ?? [];
  if (found === undefined) throw new PathSyntaxError();
  const start = integerOf(from) ?? 0;
  if (to === undefined) return { step: 'item', index: start };
  return { step: 'slice', from: start, to: integerOf(to), every: integerOf(every) ?? 1 };
}

function integerOf(text: string): number | undefined {
  if (text === '-') throw new PathSyntaxError();
  return text === '' ? undefined : Number(text);
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
};

function unescaped(text: string): string {
  return text.replace(/\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|([^]))/g, (_all, byte, unit, letter) => {
    const code = (byte ?? unit) as string | undefined;
    if (code !== undefined) return String.fromCharCode(parseInt(code, 16));
    if (!Object.hasOwn(escapes, letter as string)) throw new PathSyntaxError();
    return escapes[letter as string]!;
  });
}
