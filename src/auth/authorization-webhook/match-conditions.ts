import type { Program } from '../../cel/evaluate/program.js';
import { compileAuthorizationExpression } from '../../expressions/authorization-expression.js';
import { ClientError } from '../../kubeconfig-client/client-error.js';
import type { Clock } from '../../std/clock.js';
import type { Steps } from '../../std/steps.js';
import { YieldTimer } from '../../std/yield-timer.js';
import type { AccessReviewSpec } from './access-review.js';

/** The cost of one expression at most, as in kube-apiserver. */
const expressionCostMax = 1_000_000;

interface Condition {
  readonly text: string;
  readonly program: Program;
}

export interface ConditionsResult {
  /** True if a condition is false. */
  readonly isExcluded: boolean;
  /** The first error; undefined if there is none. */
  readonly error: string | undefined;
}

const matching: ConditionsResult = { isExcluded: false, error: undefined };
const excluded: ConditionsResult = { isExcluded: true, error: undefined };

/** The match conditions of a webhook authorizer, compiled. */
export class MatchConditions {
  private constructor(
    private readonly conditions: readonly Condition[],
    private readonly clock: Clock,
  ) {}

  /** Rejects with a ClientError for an expression that does not compile. */
  static async compile(expressions: readonly string[], clock: Clock): Promise<MatchConditions> {
    const timer = new YieldTimer(clock);
    const conditions: Condition[] = [];
    for (const [index, text] of expressions.entries()) {
      const { program, problem } = await timer.run(compileAuthorizationExpression(text));
      if (!program) throw new ClientError('Kubeconfig', `matchConditions[${index}].expression: ${problem.text}`);
      conditions.push({ text, program });
    }
    return new MatchConditions(conditions, clock);
  }

  get isEmpty(): boolean {
    return this.conditions.length === 0;
  }

  /** Evaluates conditions until one is false. Returns a promise only if other requests had to run meanwhile. */
  evaluate(request: AccessReviewSpec): ConditionsResult | Promise<ConditionsResult> {
    return new YieldTimer(this.clock).run(this.evaluateInSteps(request));
  }

  private *evaluateInSteps(request: AccessReviewSpec): Steps<ConditionsResult> {
    const bindings = { request };
    let error: string | undefined;
    for (const { text, program } of this.conditions) {
      const outcome = program.evaluate(bindings, { costLimit: expressionCostMax });
      if (!outcome.isOk) error ??= `expression '${text}' resulted in error: ${outcome.error}`;
      else if (outcome.value === false) return error === undefined ? excluded : { isExcluded: true, error };
      yield;
    }
    return error === undefined ? matching : { isExcluded: false, error };
  }
}
