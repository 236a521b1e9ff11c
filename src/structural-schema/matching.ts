import type { Pattern } from '../regex/pattern.js';

/**
 * Sum of text length × pattern size for all texts of one object: less than half a second. Real objects stay far below.
 */
const instructionsMax = 100_000_000;

/** Limits the cost of matching the texts of one object. */
export class MatchingBudget {
  private left = instructionsMax;

  allows(instructions: number): boolean {
    this.left -= instructions;
    return this.left >= 0;
  }
}

/** Returns the error message for a text that does not match, or undefined. */
export function mismatchOf(pattern: Pattern, text: string, budget: MatchingBudget): string | undefined {
  const { source, problem } = pattern;
  if (problem !== undefined) return `should match '${source}, but pattern is invalid: ${problem}'`;
  if (!budget.allows(pattern.instructionsMax(text.length))) return `is too long to be matched with '${source}'`;
  return pattern.test(text) ? undefined : `should match '${source}'`;
}
