import type { AdmissionOperation } from '../admission-operation.js';

/** Kinds of failures; a validation that is false is an invalid_error, as in kube-apiserver. */
type PolicyErrorType = 'no_error' | 'compile_error' | 'out_of_budget' | 'invalid_error';

/** Labels of the metrics of a check. */
interface PolicyCheck {
  readonly policy: string;
  readonly binding: string;
  readonly errorType: PolicyErrorType;
}

/** Counts checks of policies, for metrics. */
export interface PolicyObserver {
  /** A validation that failed, with what the binding does about it; `allow` if failurePolicy ignores its error. */
  validated(check: PolicyCheck & { readonly action: 'allow' | 'audit' | 'deny' | 'warn' }, seconds: number): void;
  /** A mutation, failed or not. */
  mutated(check: PolicyCheck, seconds: number): void;
  conditionsEvaluated(policy: string, operation: AdmissionOperation, seconds: number, isFailed: boolean): void;
}

export function errorTypeOf(message: string): PolicyErrorType {
  if (message.startsWith('compilation')) return 'compile_error';
  return message.startsWith('validation failed due to running out of cost budget') ? 'out_of_budget' : 'invalid_error';
}
