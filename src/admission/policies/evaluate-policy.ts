import type { Value } from '../../cel/values/value.js';
import type { Clock } from '../../std/clock.js';
import { awaited, type Awaiting } from '../../std/awaiting.js';
import { listed } from '../../machinery/listed.js';
import type { CompiledAnnotation, CompiledPolicy, CompiledValidation, PolicyCore } from './compiled-policy.js';
import { Budget, OutOfBudget, type PolicyEvaluation, type Result } from './evaluation.js';

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

export const passed: PolicyResult = { failures: [], annotations: [], annotationErrors: [], ignored: [] };

/** The evaluation of matchConditions, and the receiver of the duration of all of them. */
interface ConditionsRun {
  readonly ofConditions: () => Awaiting<PolicyEvaluation>;
  readonly conditionsEvaluated: (seconds: number, isFailed: boolean) => void;
}

/**
 * Evaluates a policy for one param. matchConditions run without the namespace, as in kube-apiserver; `conditionsRun` is
 * undefined for a policy without them. An error is a failure, or nothing with failurePolicy Ignore.
 */
export function* evaluatePolicy(
  policy: CompiledPolicy,
  evaluation: PolicyEvaluation,
  conditionsRun: ConditionsRun | undefined,
  clock: Clock,
): Awaiting<PolicyResult> {
  try {
    const matched = conditionsRun ? yield* measuredConditions(policy, conditionsRun, clock) : true;
    if (matched === false) return { ...passed, isExcluded: true };
    if (typeof matched === 'string') return errored(policy, matched);
    const validated = yield* failuresOf(policy, evaluation, clock);
    if (policy.auditAnnotations.length === 0) return validated ?? passed;
    return { ...passed, ...validated, ...(yield* annotationsOf(policy, evaluation, clock)) };
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error;
    return errored(policy, error.message);
  }
}

function errored({ ignoresErrors }: CompiledPolicy, message: string): PolicyResult {
  const failure = { index: 0, message, seconds: 0 };
  return ignoresErrors ? { ...passed, ignored: [failure] } : { ...passed, failures: [failure] };
}

/** As conditionsHold(), and measures how long the conditions take, if there are any. */
export function* measuredConditions(
  policy: Pick<PolicyCore, 'conditions'>,
  { ofConditions, conditionsEvaluated }: ConditionsRun,
  clock: Clock,
): Awaiting<boolean | string> {
  if (policy.conditions.length === 0) return true;
  const beginMs = clock.monotonicMs();
  let isFailed = true;
  try {
    const matched = yield* conditionsHold(policy, yield* ofConditions());
    isFailed = typeof matched === 'string';
    return matched;
  } finally {
    conditionsEvaluated((clock.monotonicMs() - beginMs) / 1000, isFailed);
  }
}

/** Returns the text of the errors if no condition is false. */
export function* conditionsHold(
  { conditions }: Pick<PolicyCore, 'conditions'>,
  evaluation: PolicyEvaluation,
): Awaiting<boolean | string> {
  const budget = new Budget(conditionCostMax);
  const errors: string[] = [];
  for (const condition of conditions) {
    const result = yield* awaited(evaluation.result(condition, budget));
    if (result.error !== undefined) errors.push(result.error);
    else if (result.value === false) return false;
  }
  return errors.length === 0 ? true : listed([...new Set(errors)]);
}

/** Returns undefined if all validations are true. */
function* failuresOf(
  policy: CompiledPolicy,
  evaluation: PolicyEvaluation,
  clock: Clock,
): Awaiting<PolicyResult | undefined> {
  const { validations } = policy;
  const budget = new Budget(validationCostMax);
  let failures: PolicyFailure[] | undefined;
  let ignored: ExpressionFailure[] | undefined;
  for (let index = 0; index < validations.length; index++) {
    const validation = validations[index]!;
    const beginMs = clock.monotonicMs();
    const running = evaluation.result(validation, budget);
    const result = running instanceof Promise ? ((yield running) as Result) : running;
    if (result.error === undefined && result.value === true) continue;
    const seconds = (clock.monotonicMs() - beginMs) / 1000;
    if (result.error !== undefined) {
      if (policy.ignoresErrors) (ignored ??= []).push({ message: result.error, seconds });
      else (failures ??= []).push({ index, message: result.error, seconds });
    } else {
      const message = yield* messageOf(validation, evaluation, budget);
      (failures ??= []).push({ index, message, reason: validation.reason, seconds });
    }
  }
  if (!failures && !ignored) return undefined;
  return { ...passed, ...(failures && { failures }), ...(ignored && { ignored }) };
}

/** Returns the result of messageExpression, if it is one line; else message, else the expression. */
function* messageOf(
  { messageExpression, message, text }: CompiledValidation,
  evaluation: PolicyEvaluation,
  budget: Budget,
): Awaiting<string> {
  const result = messageExpression && (yield* messageResult(messageExpression));
  const computed = result === undefined ? '' : usableMessage(result);
  return computed || message || `failed expression: ${text.trim()}`;

  function* messageResult(expression: typeof messageExpression & object): Awaiting<Value | undefined> {
    try {
      const evaluated = yield* awaited(evaluation.result(expression, budget));
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

function* annotationsOf(
  policy: CompiledPolicy,
  evaluation: PolicyEvaluation,
  clock: Clock,
): Awaiting<Pick<PolicyResult, 'annotations' | 'annotationErrors'>> {
  const budget = new Budget(validationCostMax);
  const annotations: { key: string; value: string }[] = [];
  const annotationErrors: ExpressionFailure[] = [];
  for (const annotation of policy.auditAnnotations) {
    const value = yield* annotationValue(annotation);
    if (value !== '') annotations.push({ key: annotation.key, value });
  }
  return { annotations, annotationErrors };

  function* annotationValue(annotation: CompiledAnnotation): Awaiting<string> {
    const beginMs = clock.monotonicMs();
    const result = yield* awaited(evaluation.result(annotation, budget));
    if (result.error === undefined) return typeof result.value === 'string' ? result.value.trim() : '';
    if (!policy.ignoresErrors) {
      annotationErrors.push({ message: result.error, seconds: (clock.monotonicMs() - beginMs) / 1000 });
    }
    return '';
  }
}
