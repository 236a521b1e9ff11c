import type { Value } from '../../cel/values/value.js';
import type { Clock } from '../../std/clock.js';
import { listed } from '../../machinery/listed.js';
import type { CompiledAnnotation, CompiledPolicy, CompiledValidation, PolicyCore } from './compiled-policy.js';
import { Budget, OutOfBudget, type PolicyEvaluation } from './evaluation.js';

/** The cost of all validations or of one mutation of a policy for one param, as in kube-apiserver. */
export const validationCostMax = 10_000_000;
const conditionCostMax = 2_500_000;
/** The result of a messageExpression at most; longer ones are not used. */
const messageBytesMax = 5 * 1024;

/** A validation that has failed. */
export interface PolicyFailure {
  /** Index of the validation in the policy. */
  readonly index: number;
  readonly message: string;
  /** Undefined means Invalid. */
  readonly reason?: string | undefined;
  /** Duration of the expression. */
  readonly seconds: number;
}

/** The error of an expression, and its duration. */
interface ExpressionFailure {
  readonly message: string;
  readonly seconds: number;
}

export interface PolicyResult {
  /** True if a match condition is false, so that the policy does not apply. */
  readonly isExcluded?: boolean;
  readonly failures: readonly PolicyFailure[];
  readonly annotations: readonly { readonly key: string; readonly value: string }[];
  /** Errors of audit annotations, which refuse the request whatever the binding does about failures. */
  readonly annotationErrors: readonly ExpressionFailure[];
  /** Errors that failurePolicy ignores. */
  readonly ignored: readonly ExpressionFailure[];
}

const passed: PolicyResult = { failures: [], annotations: [], annotationErrors: [], ignored: [] };

/** The clock that measures expressions, and the receiver of the duration of all matchConditions. */
interface Measuring {
  readonly clock: Clock;
  readonly conditionsEvaluated: (seconds: number, isFailed: boolean) => void;
}

/**
 * Evaluates a policy for one param. matchConditions run without the namespace, as in kube-apiserver. An error is a
 * failure, or nothing with failurePolicy Ignore.
 */
export async function evaluatePolicy(
  policy: CompiledPolicy,
  evaluation: PolicyEvaluation,
  ofConditions: PolicyEvaluation,
  measuring: Measuring,
): Promise<PolicyResult> {
  const errored = (message: string): PolicyResult => {
    const failure = { index: 0, message, seconds: 0 };
    return policy.ignoresErrors ? { ...passed, ignored: [failure] } : { ...passed, failures: [failure] };
  };
  try {
    const matched = await measuredConditions(policy, ofConditions, measuring);
    if (matched === false) return { ...passed, isExcluded: true };
    if (typeof matched === 'string') return errored(matched);
    const validated = await failuresOf(policy, evaluation, measuring);
    return { ...validated, ...(await annotationsOf(policy, evaluation, measuring)) };
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error;
    return errored(error.message);
  }
}

/** As conditionsHold(), and measures how long the conditions take, if there are any. */
export async function measuredConditions(
  policy: Pick<PolicyCore, 'conditions'>,
  evaluation: PolicyEvaluation,
  { clock, conditionsEvaluated }: Measuring,
): Promise<boolean | string> {
  if (policy.conditions.length === 0) return true;
  const beginMs = clock.monotonicMs();
  let isFailed = true;
  try {
    const matched = await conditionsHold(policy, evaluation);
    isFailed = typeof matched === 'string';
    return matched;
  } finally {
    conditionsEvaluated((clock.monotonicMs() - beginMs) / 1000, isFailed);
  }
}

/** Returns the text of the errors if no condition is false. */
export async function conditionsHold(
  { conditions }: Pick<PolicyCore, 'conditions'>,
  evaluation: PolicyEvaluation,
): Promise<boolean | string> {
  const budget = new Budget(conditionCostMax);
  const errors: string[] = [];
  for (const condition of conditions) {
    const result = await evaluation.result(condition, budget);
    if (result.error !== undefined) errors.push(result.error);
    else if (result.value === false) return false;
  }
  return errors.length === 0 ? true : listed([...new Set(errors)]);
}

async function failuresOf(
  policy: CompiledPolicy,
  evaluation: PolicyEvaluation,
  { clock }: Measuring,
): Promise<Pick<PolicyResult, 'failures' | 'ignored'>> {
  const budget = new Budget(validationCostMax);
  const failures: PolicyFailure[] = [];
  const ignored: ExpressionFailure[] = [];
  for (const [index, validation] of policy.validations.entries()) {
    const beginMs = clock.monotonicMs();
    const result = await evaluation.result(validation, budget);
    if (result.error === undefined && result.value === true) continue;
    const seconds = (clock.monotonicMs() - beginMs) / 1000;
    if (result.error !== undefined) {
      if (policy.ignoresErrors) ignored.push({ message: result.error, seconds });
      else failures.push({ index, message: result.error, seconds });
    } else {
      const message = await messageOf(validation, evaluation, budget);
      failures.push({ index, message, reason: validation.reason, seconds });
    }
  }
  return { failures, ignored };
}

/** Returns the result of messageExpression, if it is one line; else message, else the expression. */
async function messageOf(
  { messageExpression, message, text }: CompiledValidation,
  evaluation: PolicyEvaluation,
  budget: Budget,
): Promise<string> {
  const result = messageExpression && (await messageResult(messageExpression));
  const computed = result === undefined ? '' : usableMessage(result);
  return computed || message || `failed expression: ${text.trim()}`;

  async function messageResult(expression: typeof messageExpression & object): Promise<Value | undefined> {
    try {
      const evaluated = await evaluation.result(expression, budget);
      return evaluated.error === undefined ? evaluated.value : undefined;
    } catch (error) {
      // The validation has failed, and a message that cannot be computed changes nothing about it.
      if (!(error instanceof OutOfBudget)) throw error;
      return undefined;
    }
  }
}

function usableMessage(value: Value): string {
  if (typeof value !== 'string') return '';
  const message = value.trim();
  return Buffer.byteLength(message) > messageBytesMax || message.includes('\n') ? '' : message;
}

async function annotationsOf(
  policy: CompiledPolicy,
  evaluation: PolicyEvaluation,
  { clock }: Measuring,
): Promise<Pick<PolicyResult, 'annotations' | 'annotationErrors'>> {
  const budget = new Budget(validationCostMax);
  const annotations: { key: string; value: string }[] = [];
  const annotationErrors: ExpressionFailure[] = [];
  for (const annotation of policy.auditAnnotations) {
    const value = await annotationValue(annotation);
    if (value !== '') annotations.push({ key: annotation.key, value });
  }
  return { annotations, annotationErrors };

  async function annotationValue(annotation: CompiledAnnotation): Promise<string> {
    const beginMs = clock.monotonicMs();
    const result = await evaluation.result(annotation, budget);
    if (result.error === undefined) return typeof result.value === 'string' ? result.value.trim() : '';
    if (!policy.ignoresErrors) {
      annotationErrors.push({ message: result.error, seconds: (clock.monotonicMs() - beginMs) / 1000 });
    }
    return '';
  }
}
