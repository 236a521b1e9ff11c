import { createRequire } from 'node:module';
import type * as Re2 from 're2js';
import { costOfPattern, patternCharactersMax, patternCostMax } from './pattern-cost.js';

/** Whatever schemas repeat (a quantity's pattern stands in some definitions five hundred times) is read once. */
const sharedMax = 2000;
/** Less than half a second at the worst: characters of texts by the size of their pattern, for all texts of one object. */
const stepsMax = 100_000_000;

/** What matching the texts of one object may cost: so much text and so large a pattern come together in no real one. */
export class MatchingBudget {
  private left = stepsMax;

  allows(steps: number): boolean {
    this.left -= steps;
    return this.left >= 0;
  }
}

/**
 * A pattern as users write them. They are matched on the one thread that serves everybody, so they are run by an engine
 * whose time grows with the text and never explodes; it also reads them as Go does, and refuses them in its words.
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

  /** What is wrong with the pattern itself. */
  get problem(): string | undefined {
    const engine = this.read();
    return typeof engine === 'string' ? engine : undefined;
  }

  /** What a text that does not match is told. */
  mismatchOf(text: string, budget: MatchingBudget): string | undefined {
    const engine = this.read();
    if (typeof engine === 'string') return `should match '${this.source}, but pattern is invalid: ${engine}'`;
    if (!budget.allows(text.length * engine.programSize())) return `is too long to be matched with '${this.source}'`;
    return engine.test(text) ? undefined : `should match '${this.source}'`;
  }

  /** At the first use: most kinds have more patterns than anybody's objects meet. */
  private read(): Re2.RE2JS | string {
    return (this.engine ??= engineOf(this.source));
  }
}

const shared = new Map<string, Pattern>();

let loaded: typeof Re2 | undefined;
/** Loaded on first use: many servers never see a pattern, and none needs it to start. */
function re2(): typeof Re2 {
  return (loaded ??= createRequire(import.meta.url)('re2js') as typeof Re2);
}

/** The engine, or what is wrong with the pattern. */
function engineOf(source: string): Re2.RE2JS | string {
  if (source.length > patternCharactersMax || costOfPattern(source) > patternCostMax)
    return `${syntaxError}expression too large`;
  try {
    return re2().RE2JS.compile(source);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // Go always names the place, also where there is none.
    return message.endsWith('at end of expression') ? `${message}: \`\`` : message;
  }
}

const syntaxError = 'error parsing regexp: ';
