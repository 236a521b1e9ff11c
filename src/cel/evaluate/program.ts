import type { Value } from '../values/value.js';
import { CelError } from '../values/value.js';
import type { Evaluate } from './frame.js';
import { WorkBudget, evaluationSteps, limitExceeded, within } from '../work.js';
import { Frame } from './frame.js';

export interface EvaluateOptions {
  /** The evaluation ends with an error when it has cost more. */
  readonly costLimit: number;
  /** The same for its work; `evaluationSteps(costLimit)` without it. */
  readonly stepLimit?: number;
}

/** The result of an evaluation. */
export type Outcome = Spending &
  (
    | { readonly isOk: true; readonly value: Value }
    | {
        readonly isOk: false;
        readonly error: string;
        /** True if the evaluation exceeded the limit of its cost or of its work. */
        readonly isOverLimit: boolean;
      }
  );

interface Spending {
  readonly cost: number;
  /** Work, in steps of about 10 ns: that which the cost pays for, and that which it does not count. */
  readonly steps: number;
}

/** A compiled expression. It holds no state, so it can be evaluated any number of times. */
export class Program {
  constructor(
    private readonly run: Evaluate,
    private readonly slotCount: number,
  ) {}

  evaluate(bindings: Readonly<Record<string, unknown>>, options: EvaluateOptions): Outcome {
    const { costLimit, stepLimit = evaluationSteps(costLimit) } = options;
    const work = new WorkBudget(stepLimit);
    const frame = new Frame(bindings, costLimit, work, this.slotCount);
    try {
      const value = within(work, () => this.run(frame));
      const spending = { cost: frame.cost, steps: work.spent };
      if (!(value instanceof CelError)) return { isOk: true, value, ...spending };
      return { isOk: false, error: value.message, isOverLimit: false, ...spending };
    } catch (error) {
      if (error !== limitExceeded) throw error;
      // By how much the last call exceeds the limit depends on how it counts its steps.
      const spending = { cost: frame.cost, steps: Math.min(work.spent, stepLimit) };
      return { isOk: false, error: limitExceeded.message, isOverLimit: true, ...spending };
    }
  }
}
