import { Pattern } from '../regex/pattern.js';
import { runeAt, widthOf } from '../regex/program.js';
import type { Match, SpendWork } from '../regex/search.js';
import type { Regex, RegexEngine } from './libraries/regex.js';
import { searchIn } from './values/search.js';
import { spend, spendOnce, stepsPerCost } from './work.js';

/** Returns RE2 as the engine of regular expressions. Patterns that take long to compile are invalid. */
export function re2Engine(): RegexEngine {
  return {
    compile(source) {
      const pattern = Pattern.of(source);
      spendOnce('pattern', source, (pattern.cost + source.length) * compilationSteps);
      return pattern.problem ?? new Re2Regex(pattern);
    },
  };
}

/** For each unit of the cost of a pattern and each character: 1 µs. */
const compilationSteps = 100;
/** Steps of beginning a search, and of each unit of its work. */
const [searchSteps, unitSteps] = [20, 0.7];

class Re2Regex implements Regex {
  private readonly literal: string | undefined;

  constructor(private readonly pattern: Pattern) {
    this.literal = pattern.literal;
  }

  test(text: string): boolean {
    const spendSearch = this.begin(text);
    return this.literal === undefined ? this.pattern.test(text, spendSearch) : searchIn(text, this.literal, 0) >= 0;
  }
  find(text: string): string {
    const match = this.findFrom(text, 0, this.begin(text));
    return match ? text.slice(match.start, match.end) : '';
  }
  /** An empty match directly after another is left out. */
  findAll(text: string, max: number): string[] {
    const found: string[] = [];
    const spendSearch = this.begin(text);
    let lastEnd = -1;
    for (let from = 0; from <= text.length && found.length !== max;) {
      spend(searchSteps);
      const match = this.findFrom(text, from, spendSearch);
      if (!match) break;
      const { start, end } = match;
      const isEmpty = start === end;
      if (!isEmpty || start !== lastEnd) found.push(text.slice(start, end));
      lastEnd = end;
      from = isEmpty ? end + widthOf(runeAt(text, end)) : end;
    }
    return found;
  }

  /** Returns the leftmost match from an index on. The cost pays for searching a literal. */
  private findFrom(text: string, from: number, spendSearch: SpendWork): Match | undefined {
    if (this.literal === undefined) return this.pattern.find(text, from, spendSearch);
    const start = searchIn(text, this.literal, from);
    return start < 0 ? undefined : { start, end: start + this.literal.length };
  }

  /**
   * Begins a search. Returns the function that counts its work, except that for which its cost pays, which grows with the
   * characters of the pattern.
   */
  private begin(text: string): SpendWork {
    spend(searchSteps);
    const paid = text.length * Math.ceil(this.pattern.source.length / 4) * 0.1 * stepsPerCost;
    let units = 0;
    let spent = 0;
    return (more) => {
      units += more;
      // Whole steps, so that their sum does not depend on the parts in which they are counted.
      const unpaid = Math.ceil(units * unitSteps - paid);
      if (unpaid <= spent) return;
      spend(unpaid - spent);
      spent = unpaid;
    };
  }
}
