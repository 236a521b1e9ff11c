import type { Value } from '../values/value.js';
import { CelError } from '../values/value.js';
import type { Evaluate } from './frame.js';
import { WorkBudget, evaluationStepsMax, limitExceeded, within } from '../work.js';
import { Frame } from './frame.js';

export interface EvaluateOptions {
  /** The evaluation ends with an error when it has cost more. */
  readonly costLimit: number;
  /** Limits the work of several evaluations together; each has a budget of its own without it. */
  readonly work?: WorkBudget;
}

/** The result of an evaluation, and its cost. */
export type Outcome =
  | { readonly isOk: true; readonly value: Value; readonly cost: number }
  | {
      readonly isOk: false;
      readonly error: string;
      readonly cost: number;
      /** True if the evaluation exceeded the limit of its cost or of its work. */
      readonly isOverLimit: boolean;
    };

/** A compiled expression. It holds no state, so it can be evaluated any number of times. */
export class Program {
  constructor(
    private readonly run: Evaluate,
    private readonly slotCount: number,
  ) {}

  evaluate(bindings: Readonly<Record<string, unknown>>, options: EvaluateOptions): Outcome {
    const frame = new Frame(bindings, options.costLimit, this.slotCount);
    try {
      const value = within(options.work ?? new WorkBudget(evaluationStepsMax), () => this.run(frame));
      if (!(value instanceof CelError)) return { isOk: true, value, cost: frame.cost };
      return { isOk: false, error: value.message, cost: frame.cost, isOverLimit: false };
    } catch (error) {
      if (error !== limitExceeded) throw error;
      return { isOk: false, error: limitExceeded.message, cost: frame.cost, isOverLimit: true };
    }
  }
}
