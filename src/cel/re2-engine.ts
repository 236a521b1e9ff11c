import { Pattern } from '../regex/pattern.js';
import type { Regex, RegexEngine } from './libraries/regex.js';
import { MeasuredWork, spend, spendOnce } from './work.js';

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
const instructionsPerStep = 10;
/** Steps of beginning a search for the text of a match. */
const searchSteps = 40;
/** Searches that are bounded by less work than this in all are not measured: 1 ms. */
const unmeasuredStepsMax = 100_000;

class Re2Regex implements Regex {
  constructor(private readonly pattern: Pattern) {}

  test(text: string): boolean {
    spend(10);
    spend(this.unpaidSteps(text));
    return this.pattern.test(text);
  }
  find(text: string): string {
    spend(searchSteps);
    spend(this.unpaidSteps(text));
    return this.pattern.find(text) ?? '';
  }
  findAll(text: string, max: number): string[] {
    const found: string[] = [];
    if (max === 0) return found;
    spend(searchSteps);
    spend(this.unpaidSteps(text));
    // Each search may go on to the end of the text, after which the next one begins before it.
    const stepsMax = this.pattern.instructionsMax(text.length) / instructionsPerStep;
    const measured = stepsMax > 10 ? new MeasuredWork() : undefined;
    let unmeasured = 0;
    for (const match of this.pattern.findEach(text)) {
      spend(searchSteps);
      unmeasured += stepsMax;
      if (unmeasured > unmeasuredStepsMax) {
        measured?.spend();
        unmeasured = 0;
      }
      if (found.push(match) === max) break;
    }
    return found;
  }

  /** Steps of a search, except those for which its cost pays: costs grow with the characters of the pattern. */
  private unpaidSteps(text: string): number {
    const { source } = this.pattern;
    const steps = this.pattern.instructionsMax(text.length) / instructionsPerStep;
    return Math.max(0, steps - (text.length * source.length) / 4);
  }
}
