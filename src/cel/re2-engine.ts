import { Pattern } from '../regex/pattern.js';
import type { Regex, RegexEngine } from './libraries/regex.js';
import { MeasuredWork, spend, spendOnce, stepsPerCost } from './work.js';

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
/** Steps of beginning a search: one that only tests, and one that finds a match. */
const [testSteps, findSteps] = [10, 40];
/** Most steps for each character and each instruction of the pattern; a search that only tests seldom takes more than one. */
const instructionSteps = 0.8;
/** Searches that are bounded by less work are counted by this bound, or by their characters; others are measured, too. */
const unmeasuredStepsMax = 10_000;

class Re2Regex implements Regex {
  constructor(private readonly pattern: Pattern) {}

  test(text: string): boolean {
    const measured = this.begin(text, testSteps + text.length);
    const isMatch = this.pattern.test(text);
    measured?.spend();
    return isMatch;
  }
  find(text: string): string {
    const measured = this.begin(text, findSteps + Math.min(this.stepsMax(text), unmeasuredStepsMax));
    const match = this.pattern.find(text);
    measured?.spend();
    return match ?? '';
  }
  findAll(text: string, max: number): string[] {
    const found: string[] = [];
    if (max === 0) return found;
    const stepsMax = this.stepsMax(text);
    const measured = this.begin(text, findSteps + Math.min(stepsMax, unmeasuredStepsMax));
    // Each search may go on to the end of the text, after which the next one begins before it.
    let unmeasured = 0;
    for (const match of this.pattern.findEach(text)) {
      spend(findSteps);
      unmeasured += stepsMax;
      if (unmeasured > unmeasuredStepsMax) {
        measured?.spend();
        unmeasured = 0;
      }
      if (found.push(match) === max) break;
    }
    measured?.spend();
    return found;
  }

  private stepsMax(text: string): number {
    return this.pattern.instructionsMax(text.length) * instructionSteps;
  }

  /**
   * Counts the usual steps of a search, except those for which its cost pays, which grows with the characters of the
   * pattern. Returns the measurement of a search that may take much longer.
   */
  private begin(text: string, steps: number): MeasuredWork | undefined {
    const paid = text.length * Math.ceil(this.pattern.source.length / 4) * 0.1 * stepsPerCost;
    spend(Math.max(0, steps - paid));
    return this.stepsMax(text) > unmeasuredStepsMax ? new MeasuredWork(Math.max(steps, paid)) : undefined;
  }
}
