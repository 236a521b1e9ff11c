import { fieldError, type FieldError, type FieldPath } from '../machinery/field-error.js';
import type { CompiledExpression } from './environment.js';

/** Returns the error of an expression that does not compile; `shown` is the expression as the error quotes it. */
export function expressionErrors({ problem }: CompiledExpression, shown: string, at: FieldPath): FieldError[] {
  if (!problem) return [];
  return [problem.isInternal ? fieldError.internal(at, problem.text) : fieldError.invalid(at, shown, problem.text)];
}
