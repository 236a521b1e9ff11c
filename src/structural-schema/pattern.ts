import { createRequire } from 'node:module';
import type * as Re2 from 're2js';
import { costOfPattern, patternCharactersMax, patternCostMax } from './pattern-cost.js';

/**
 * Number of distinct patterns that are compiled once and shared. In some definitions the pattern of a quantity occurs
 * five hundred times.
 */
const sharedMax = 2000;
/**
 * Sum of text length × pattern size for all texts of one object: less than half a second. Real objects stay far below.
 */
const stepsMax = 100_000_000;

/** Limits the cost of matching the texts of one object. */
export class MatchingBudget {
  private left = stepsMax;

  allows(steps: number): boolean {
    this.left -= steps;
    return this.left >= 0;
  }
}

/**
 * A regular expression of a schema. Compiled with RE2, whose time grows linearly with the text, since matching holds
 * the event loop; RE2 also has Go's syntax and error messages.
 */
export class Pattern {
  private engine: Re2.RE2JS | string | undefined;

  private constructor(private readonly source: string) {}

  static of(source: string): Pattern {
    let pattern = shared.get(source);
    if (pattern) return pattern;
    pattern = new Pattern(source);
    if (shared.size >= sharedMax) shared.clear();
    shared.set(source, pattern);
    return pattern;
  }

  /** Returns the syntax error of the pattern, or undefined. */
  get problem(): string | undefined {
    const engine = this.read();
    return typeof engine === 'string' ? engine : undefined;
  }

  /** Returns the error message for a text that does not match, or undefined. */
  mismatchOf(text: string, budget: MatchingBudget): string | undefined {
    const engine = this.read();
    if (typeof engine === 'string') return `should match '${this.source}, but pattern is invalid: ${engine}'`;
    if (!budget.allows(text.length * engine.programSize())) return `is too long to be matched with '${this.source}'`;
    return engine.test(text) ? undefined : `should match '${this.source}'`;
  }

  /** Compiles on first use: most patterns of a definition are never matched. */
  private read(): Re2.RE2JS | string {
    return (this.engine ??= engineOf(this.source));
  }
}

const shared = new Map<string, Pattern>();

let loaded: typeof Re2 | undefined;
/** Imported on first use: many servers never compile a pattern, and start-up is faster without it. */
function re2(): typeof Re2 {
  return (loaded ??= createRequire(import.meta.url)('re2js') as typeof Re2);
}

/** Returns the compiled pattern, or its syntax error. */
function engineOf(source: string): Re2.RE2JS | string {
  if (source.length > patternCharactersMax || costOfPattern(source) > patternCostMax)
    return `${syntaxError}expression too large`;
  try {
    return re2().RE2JS.compile(source);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // Go appends the position of the error, which is empty here.
    return message.endsWith('at end of expression') ? `${message}: \`\`` : message;
  }
}

const syntaxError = 'error parsing regexp: ';
