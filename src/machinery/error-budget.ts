import type { Steps } from '../std/steps.js';
import type { FieldError } from './field-error.js';

/** Errors that one validation reports at most. A body of 3 MiB can hold a million mistakes; nobody reads a thousand. */
export const validationErrorsMax = 1000;
/** Characters of all their paths and texts: an error may quote a value as large as the body. */
const charactersMax = 1_000_000;

/** The last cause of an answer that does not list every error. */
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

  /** Throws instead of taking another error when the budget is spent; the first error is taken whatever its size. */
  add(error: FieldError): void {
    if (this.errors.length >= validationErrorsMax || this.characters > charactersMax) throw this.spent;
    this.errors.push(error);
    this.characters += error.field.length + error.detail.length;
  }
}

/** A step of a validation is synchronous, so there is at most one that collects errors now. */
let current: (() => ErrorBudget) | undefined;

/** Counts an error against the validation that is under way. Called by every factory of field errors. */
export function counted(error: FieldError): FieldError {
  current?.().add(error);
  return error;
}

/**
 * The errors of a validation, which is cut short when it has found too many: its time then depends on the bytes of the
 * object and not on the mistakes in them. A cut list ends with a cause that says so. Every error that `validate` makes
 * counts; validation that makes errors and drops them again belongs into `uncountedErrors`.
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

/** boundedErrors() of a validation in steps, between which others may collect errors of their own. */
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

/** At most as many as a validation reports, of a list that was made without a bound. */
export function firstErrors(errors: readonly FieldError[]): readonly FieldError[] {
  if (errors.length <= validationErrorsMax + 1) return errors;
  return [...errors.slice(0, validationErrorsMax), tooManyErrors];
}

/** True if `errors` was cut short by `boundedErrors` or `boundedErrorsInSteps`. */
export function isCutShort(errors: readonly FieldError[]): boolean {
  return errors.at(-1)?.detail === tooManyErrors.detail;
}

/** Runs validation that bounds its errors itself, or drops some of them. */
export function uncountedErrors<T>(validate: () => T): T {
  const outer = current;
  current = undefined;
  try {
    return validate();
  } finally {
    current = outer;
  }
}
