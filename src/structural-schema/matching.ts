import type { Pattern } from '../regex/pattern.js';

/** Units of work for all texts of one object: at most 160 ms; 1 MB of labels. Real objects stay far below. */
const unitsMax = 12_000_000;

/** Ends a search whose object has no units left. */
class BudgetSpent extends Error {}

/** Limits the work of matching the texts of one object. */
export class MatchingBudget {
  private left = unitsMax;
  private readonly spend = (units: number): void => {
    this.left -= units;
    if (this.left < 0) throw new BudgetSpent('the patterns of an object take too long');
  };

  /** Returns undefined if the budget does not suffice. */
  test(pattern: Pattern, text: string): boolean | undefined {
    try {
      return this.left < 0 ? undefined : pattern.test(text, this.spend);
    } catch (error) {
      if (error instanceof BudgetSpent) return undefined;
      throw error;
    }
  }
}

/** Returns the error message for a text that does not match, or undefined. */
export function mismatchOf(pattern: Pattern, text: string, budget: MatchingBudget): string | undefined {
  const { source, problem } = pattern;
  if (problem !== undefined) return `should match '${source}, but pattern is invalid: ${problem}'`;
  const isMatch = budget.test(pattern, text);
  if (isMatch === undefined) return `is too long to be matched with '${source}'`;
  return isMatch ? undefined : `should match '${source}'`;
}
