import type { Value } from '../../cel/values/value.js';
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
}

export interface PolicyResult {
  /** True if a match condition is false, so that the policy does not apply. */
  readonly isExcluded?: boolean;
  readonly failures: readonly PolicyFailure[];
  readonly annotations: readonly { readonly key: string; readonly value: string }[];
  /** Errors of audit annotations, which refuse the request whatever the binding does about failures. */
  readonly annotationErrors: readonly string[];
}

const passed: PolicyResult = { failures: [], annotations: [], annotationErrors: [] };

/**
 * Evaluates a policy for one param. matchConditions run without the namespace, as in kube-apiserver. An error is a
 * failure, or nothing with failurePolicy Ignore.
 */
export async function evaluatePolicy(
  policy: CompiledPolicy,
  evaluation: PolicyEvaluation,
  ofConditions: PolicyEvaluation,
): Promise<PolicyResult> {
  const errored = (message: string): PolicyResult =>
    policy.ignoresErrors ? passed : { ...passed, failures: [{ index: 0, message }] };
  try {
    const matched = await conditionsHold(policy, ofConditions);
    if (matched === false) return { ...passed, isExcluded: true };
    if (typeof matched === 'string') return errored(matched);
    const failures = await failuresOf(policy, evaluation);
    return { failures, ...(await annotationsOf(policy, evaluation)) };
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error;
    return errored(error.message);
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

async function failuresOf(policy: CompiledPolicy, evaluation: PolicyEvaluation): Promise<PolicyFailure[]> {
  const budget = new Budget(validationCostMax);
  const failures: PolicyFailure[] = [];
  for (const [index, validation] of policy.validations.entries()) {
    const result = await evaluation.result(validation, budget);
    if (result.error !== undefined) {
      if (!policy.ignoresErrors) failures.push({ index, message: result.error });
    } else if (result.value !== true) {
      const message = await messageOf(validation, evaluation, budget);
      failures.push({ index, message, reason: validation.reason });
    }
  }
  return failures;
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
): Promise<Omit<PolicyResult, 'failures'>> {
  const budget = new Budget(validationCostMax);
  const annotations: { key: string; value: string }[] = [];
  const annotationErrors: string[] = [];
  for (const annotation of policy.auditAnnotations) {
    const value = await annotationValue(annotation);
    if (value !== '') annotations.push({ key: annotation.key, value });
  }
  return { annotations, annotationErrors };

  async function annotationValue(annotation: CompiledAnnotation): Promise<string> {
    const result = await evaluation.result(annotation, budget);
    if (result.error === undefined) return typeof result.value === 'string' ? result.value.trim() : '';
    if (!policy.ignoresErrors) annotationErrors.push(result.error);
    return '';
  }
}
