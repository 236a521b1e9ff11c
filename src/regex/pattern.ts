import { createRequire } from 'node:module';
import type * as Re2 from 're2js';
import { Automaton } from './automaton.js';
import { costOfPattern, patternCharactersMax, patternCostMax } from './pattern-cost.js';
import { Program } from './program.js';
import type { Match, SpendWork } from './search.js';
import { findMatch, hasMatch } from './search.js';

/**
 * A regular expression in Go's syntax. Run by RE2, whose time grows linearly with the text, since matching holds the
 * event loop; RE2 also has Go's error messages. Patterns that take long to compile are invalid.
 */
export class Pattern {
  private engine: Re2.RE2JS | string | undefined;
  private instructions: Program | undefined;
  private automaton: Automaton | undefined;

  private constructor(
    readonly source: string,
    /** Compilation takes about 1 µs for each unit; 0 for a pattern that is refused for its length. */
    readonly cost: number,
  ) {}

  /** Returns the pattern of a source. Equal sources share one while they are in use. */
  static of(source: string): Pattern {
    if (source.length > patternCharactersMax) return new Pattern(source, 0);
    const known = recent.get(source) ?? older.get(source);
    if (known) return keep(known);
    return keep(new Pattern(source, costOfPattern(source)));
  }

  get isCompiled(): boolean {
    return this.engine !== undefined;
  }

  /** Returns the syntax error of the pattern, or undefined. */
  get problem(): string | undefined {
    const engine = this.read();
    return typeof engine === 'string' ? engine : undefined;
  }

  /** The text for which the pattern stands, if it stands for one. */
  get literal(): string | undefined {
    const engine = this.re2.re2();
    return engine.prefixComplete ? (engine.prefix as string) : undefined;
  }

  /** True if the text has a match. */
  test(text: string, spend: SpendWork = noLimit): boolean {
    // Most patterns that an expression builds are used once, for a short text.
    const isOnce = !this.instructions && text.length < shortTextMax;
    if (isOnce) return hasMatch(this.program, text, spend);
    return (this.automaton ??= new Automaton(this.program)).test(text, spend);
  }

  /** Returns the leftmost match from an index of the text on; undefined if there is none. */
  find(text: string, from: number, spend: SpendWork): Match | undefined {
    return findMatch(this.program, text, from, spend);
  }

  private get program(): Program {
    return (this.instructions ??= new Program(this.re2));
  }

  private get re2(): Re2.RE2JS {
    const engine = this.read();
    if (typeof engine === 'string') throw new Error(`invalid pattern: ${engine}`);
    return engine;
  }

  /** Compiles on first use: most patterns of a definition are never matched. */
  private read(): Re2.RE2JS | string {
    return (this.engine ??= compile(this));
  }
}

const shortTextMax = 1000;
const noLimit: SpendWork = () => undefined;

/**
 * Sum of the costs of the patterns that are shared, in each of two generations; 1,000 typical patterns. In some
 * definitions the pattern of a quantity occurs five hundred times.
 */
const generationCostMax = 100_000;
let recent = new Map<string, Pattern>();
let older = new Map<string, Pattern>();
let recentCost = 0;

function keep(pattern: Pattern): Pattern {
  if (recent.has(pattern.source)) return pattern;
  if (recentCost > generationCostMax) {
    older = recent;
    recent = new Map();
    recentCost = 0;
  }
  recent.set(pattern.source, pattern);
  recentCost += pattern.cost + pattern.source.length;
  return pattern;
}

let loaded: typeof Re2 | undefined;
/** Imported on first use: many servers never compile a pattern, and start-up is faster without it. */
function re2(): typeof Re2 {
  return (loaded ??= createRequire(import.meta.url)('re2js') as typeof Re2);
}

/** Returns the compiled pattern, or its syntax error. */
function compile({ source, cost }: Pattern): Re2.RE2JS | string {
  if (source.length > patternCharactersMax || cost > patternCostMax) return patternTooLarge;
  try {
    return re2().RE2JS.compile(source);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // Go appends the position of the error, which is empty here.
    return message.endsWith('at end of expression') ? `${message}: \`\`` : message;
  }
}

/** The error of a pattern that takes too long to compile, in Go's words. */
const patternTooLarge = 'error parsing regexp: expression too large';
