import {
  compileAuthenticationExpression,
  type AuthenticationExpression,
  type AuthenticationVariable,
} from '../../expressions/authentication-expression.js';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';

/** Compiles the expressions of one entry of `jwt`, and adds their errors to those of the file. */
export class ExpressionReader {
  constructor(private readonly add: (errors: readonly FieldError[]) => void) {}

  /** Compiles an expression that has a value. */
  readMapping(text: string, at: FieldPath): AuthenticationExpression | undefined {
    return this.compile('claims', text, at, false);
  }

  /** Compiles a condition that no other rule of the list has. */
  readCondition(
    variable: AuthenticationVariable,
    text: string,
    at: FieldPath,
    seen: Set<string>,
  ): AuthenticationExpression | undefined {
    if (!seen.has(text)) {
      seen.add(text);
      return this.compile(variable, text, at, true);
    }
    this.add([fieldError.duplicate(at, text)]);
    return undefined;
  }

  private compile(
    variable: AuthenticationVariable,
    text: string,
    at: FieldPath,
    isCondition: boolean,
  ): AuthenticationExpression | undefined {
    const { expression, problem } = compileAuthenticationExpression(variable, text, isCondition);
    if (problem !== undefined) this.add([fieldError.invalid(at, text, problem)]);
    return expression;
  }
}
