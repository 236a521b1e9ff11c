import { fieldError, type FieldError } from '../machinery/field-error.js';
import { MatchingBudget } from './matching.js';

/** The path of an error of the whole object, as in kube-apiserver's messages. */
const wholeObject = '<nil>';

/** More errors would cost more than the request and would not be read. */
export const errorsMax = 1000;
/**
 * Limit on the characters of all paths: a field name may be as long as a body and occurs in the path of every field
 * inside it.
 */
const pathCharactersMax = 5_000_000;
/** Limit on the characters of all paths that are built, including those of errors that are dropped later. */
const madeCharactersMax = 200_000_000;
/** Limit on the characters of all messages without paths: one may list a large enum. */
const madeDetailsMax = 1_000_000;

/**
 * Limit on comparisons of values with alternatives, counting required fields and nested alternatives: a list of 50,000
 * items may have twenty alternatives. Takes less than 100 ms.
 */
const comparisonsMax = 1_000_000;

/** Position in a value under validation, and the errors found so far. Paths are built only for errors. */
export class ValueWalk {
  errors: FieldError[] = [];
  /** Number of errors, including those only counted. */
  found = 0;
  /** True while errors are counted and not built: only the best matching alternative has its errors reported. */
  isCounting = false;
  private comparisonsLeft = comparisonsMax;
  /** Score of the match so far: the alternative with the highest score is the best. */
  matches = 0;
  readonly matching = new MatchingBudget();
  private readonly steps: (string | number)[] = [];
  /** Approximate length of the path. */
  private pathLength = 0;
  private madeCharacters = 0;
  private madeDetails = 0;

  /** `at` is the path of the value: a prefix of field paths, but not of the names in messages. */
  constructor(private readonly at: string) {}

  enter(step: string | number): void {
    this.steps.push(step);
    this.pathLength += lengthOf(step);
  }

  leave(): void {
    this.pathLength -= lengthOf(this.steps.pop()!);
  }

  /** Enters a field that the schema does not name: its path has a leading dot even at the root. */
  enterOther(field: string): void {
    if (this.steps.length === 0) this.steps.push('');
    this.enter(field);
  }

  leaveOther(): void {
    this.leave();
    if (this.steps.length === 1 && this.steps[0] === '') this.steps.pop();
  }

  /** The path within the value, as messages name it: `spec.items[0]`. */
  get name(): string {
    let name = '';
    for (const [depth, step] of this.steps.entries()) {
      name += typeof step === 'number' ? `[${step}]` : depth === 0 ? step : `.${step}`;
    }
    return name;
  }

  /** The path of errors. */
  get field(): string {
    return this.fieldOf(this.name);
  }

  get isFull(): boolean {
    const { found } = this;
    return found >= errorsMax || found * this.pathLength > pathCharactersMax || this.isSpent || this.isExhausted;
  }

  /** True if building errors has reached a limit: the errors may be incomplete. */
  get isSpent(): boolean {
    return this.madeCharacters > madeCharactersMax || this.madeDetails > madeDetailsMax;
  }

  /** True if the limit on comparisons is reached: the only error is then `exhausted()`. */
  get isExhausted(): boolean {
    return this.comparisonsLeft < 0;
  }

  /** Counts comparisons with alternatives against the limit. */
  compare(comparisons: number): void {
    this.comparisonsLeft -= comparisons;
  }

  /** Adds an error, built only if errors are not just being counted. */
  report(makeError: () => FieldError): void {
    if (this.isFull) return;
    this.found++;
    if (this.isCounting) return;
    const error = makeError();
    this.madeCharacters += this.pathLength;
    this.madeDetails += Math.max(0, error.detail.length - this.pathLength);
    this.errors.push(error);
  }

  /** Drops the errors that were found after the first `found`. */
  dropAfter(found: number): void {
    this.found = found;
    if (!this.isCounting) this.errors.length = found;
  }

  invalid(value: unknown, message: string): void {
    this.report(() => fieldError.invalid(this.field, value, `${this.name} in body ${message}`));
  }

  wrongType(wanted: string, actual: string): void {
    this.report(() => {
      const message = `${this.name} in body must be of type ${wanted}: "${actual}"`;
      return fieldError.typeInvalid(this.field, actual, message);
    });
  }

  missing(field: string): void {
    if (this.isFull) return;
    this.enter(field);
    this.report(() => fieldError.required(this.field));
    this.leave();
  }

  /** Adds an error of the whole value. */
  invalidAsWhole(makeMessage: () => string): void {
    this.report(() => fieldError.invalid(this.fieldOf(''), '', makeMessage()));
  }

  /** The error for a value that was not compared with all alternatives. */
  exhausted(): FieldError {
    const message = `must not have more than ${comparisonsMax} comparisons of values with allOf, anyOf, oneOf and not`;
    return fieldError.invalid(this.fieldOf(''), '', message);
  }

  private fieldOf(name: string): string {
    const inside = name.startsWith('.') ? name.slice(1) : name;
    if (this.at === '') return inside === '' ? wholeObject : inside;
    return inside === '' ? this.at : `${this.at}.${inside}`;
  }
}

const lengthOf = (step: string | number): number => (typeof step === 'string' ? step.length : 1);
