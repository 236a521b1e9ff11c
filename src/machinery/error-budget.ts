import type { Steps } from '../std/steps.js';
import type { FieldError } from './field-error-type.js';

/** Maximum number of errors per validation. A body of 3 MiB can cause a million. */
export const validationErrorsMax = 1000;
/** Maximum number of characters of all errors: each may quote 65,536 characters of a value, escaped. */
const charactersMax = 1_000_000;

/** The last cause in a response that does not list all errors. */
const tooManyErrors: FieldError = {
  type: 'FieldValueTooMany',
  field: '*',
  detail: `Too many errors: only the first ${validationErrorsMax} or fewer are listed`,
};

class BudgetSpent extends Error {}

class ErrorBudget {
  readonly errors: FieldError[] = [];
  readonly spent = new BudgetSpent('too many validation errors');
  private characters = 0;

  /** Throws if the budget is spent. */
  require(): void {
    if (this.errors.length >= validationErrorsMax || this.characters > charactersMax) throw this.spent;
  }

  /** Throws if the budget is spent. Accepts the first error regardless of its size. */
  add(error: FieldError): void {
    this.require();
    this.errors.push(error);
    this.characters += error.field.length + error.detail.length;
  }
}

/** The budget of the running validation. A validation step is synchronous, so there is only one. */
let current: (() => ErrorBudget) | undefined;

/** Ends the running validation if it may not have another error. Called before a value is formatted for one. */
export function requireBudget(): void {
  current?.().require();
}

/** Counts an error against the running validation. Called by every factory of field errors. */
export function counted(error: FieldError): FieldError {
  current?.().add(error);
  return error;
}

/**
 * Runs a validation and stops it after too many errors, so that its time depends on the size of the object, not on the
 * number of mistakes. A truncated list ends with a cause that says so. Every created error counts; validation that
 * discards errors must run in `uncountedErrors`.
 */
export function boundedErrors(validate: () => readonly FieldError[]): readonly FieldError[] {
  const outer = current;
  let budget: ErrorBudget | undefined;
  current = () => (budget ??= new ErrorBudget());
  try {
    return validate();
  } catch (error) {
    if (!budget || error !== budget.spent) throw error;
    return [...budget.errors, tooManyErrors];
  } finally {
    current = outer;
  }
}

/** Runs boundedErrors() in steps, between which other validations may run. */
export function* boundedErrorsInSteps(steps: Steps<readonly FieldError[]>): Steps<readonly FieldError[]> {
  let budget: ErrorBudget | undefined;
  const own = () => (budget ??= new ErrorBudget());
  for (;;) {
    const outer = current;
    current = own;
    try {
      const { done, value } = steps.next();
      if (done) return value;
    } catch (error) {
      if (!budget || error !== budget.spent) throw error;
      return [...budget.errors, tooManyErrors];
    } finally {
      current = outer;
    }
    yield;
  }
}

/** Truncates a list of errors that was created without a budget. */
export function firstErrors(errors: readonly FieldError[]): readonly FieldError[] {
  if (errors.length <= validationErrorsMax + 1) return errors;
  return [...errors.slice(0, validationErrorsMax), tooManyErrors];
}

/** True if `errors` was truncated. */
export function isCutShort(errors: readonly FieldError[]): boolean {
  return errors.at(-1)?.detail === tooManyErrors.detail;
}

/** Runs validation that bounds its errors itself, or discards some of them. */
export function uncountedErrors<T>(validate: () => T): T {
  const outer = current;
  current = undefined;
  try {
    return validate();
  } finally {
    current = outer;
  }
}
