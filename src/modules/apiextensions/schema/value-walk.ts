import { fieldError, type FieldError } from '../../../machinery/field-error.js';
import { MatchingBudget } from './pattern.js';

/** The path of no field, as clients have always been shown it. */
const wholeObject = '<nil>';

/** Nobody reads more, and a long list of what is wrong would cost more than its request. */
export const errorsMax = 1000;
/** A name may be as long as a body, and stands in the path of all that is within. */
const pathCharactersMax = 5_000_000;
/** Of all paths that are made, also for what is let through in the end. */
const madeCharactersMax = 200_000_000;
/** Characters of all messages besides paths: one may list a large enumeration. */
const madeDetailsMax = 1_000_000;

/**
 * Values that are compared with alternatives, with all that is required of each and all levels of alternatives inside
 * alternatives: a list of 50,000 items may have twenty alternatives. Less than 100 ms.
 */
const comparisonsMax = 1_000_000;

/** What is wrong with a value, and where the walk through it is. Paths are made only for what is wrong. */
export class ValueWalk {
  errors: FieldError[] = [];
  /** Mistakes found so far, also while they are only counted. */
  found = 0;
  /** True while mistakes are counted and not written down: most alternatives are not the one that explains most. */
  isCounting = false;
  private comparisonsLeft = comparisonsMax;
  /** How much of the value was as asked: of several alternatives the one that nearly fits explains most. */
  matches = 0;
  readonly matching = new MatchingBudget();
  private readonly steps: (string | number)[] = [];
  /** About as long as the path is. */
  private pathLength = 0;
  private madeCharacters = 0;
  private madeDetails = 0;

  /** Errors are of fields in there; the words of rules begin at the value itself. */
  constructor(private readonly at: string) {}

  enter(step: string | number): void {
    this.steps.push(step);
    this.pathLength += lengthOf(step);
  }

  leave(): void {
    this.pathLength -= lengthOf(this.steps.pop()!);
  }

  /** Fields that the schema does not name have a dot before them even where nothing else is. */
  enterOther(field: string): void {
    if (this.steps.length === 0) this.steps.push('');
    this.enter(field);
  }

  leaveOther(): void {
    this.leave();
    if (this.steps.length === 1 && this.steps[0] === '') this.steps.pop();
  }

  /** How rules name the place: `spec.items[0]`. */
  get name(): string {
    let name = '';
    for (const [depth, step] of this.steps.entries()) {
      name += typeof step === 'number' ? `[${step}]` : depth === 0 ? step : `.${step}`;
    }
    return name;
  }

  /** `field` is the path as errors have it. */
  get field(): string {
    return this.fieldOf(this.name);
  }

  get isFull(): boolean {
    const { found } = this;
    return found >= errorsMax || found * this.pathLength > pathCharactersMax || this.isSpent || this.isExhausted;
  }

  /** More was found wrong than can be told of: what was told may not be all. */
  get isSpent(): boolean {
    return this.madeCharacters > madeCharactersMax || this.madeDetails > madeDetailsMax;
  }

  /** True if more values met alternatives than are compared: the outcome is an error that says so. */
  get isExhausted(): boolean {
    return this.comparisonsLeft < 0;
  }

  /** Counts comparisons of a value with an alternative against the bound. */
  compare(comparisons: number): void {
    this.comparisonsLeft -= comparisons;
  }

  /** Makes the error only where it is written down. */
  tell(makeError: () => FieldError): void {
    if (this.isFull) return;
    this.found++;
    if (this.isCounting) return;
    const error = makeError();
    this.madeCharacters += this.pathLength;
    this.madeDetails += Math.max(0, error.detail.length - this.pathLength);
    this.errors.push(error);
  }

  /** Takes back what was found since there were `found` mistakes. */
  forgive(found: number): void {
    this.found = found;
    if (!this.isCounting) this.errors.length = found;
  }

  invalid(value: unknown, message: string): void {
    this.tell(() => fieldError.invalid(this.field, value, `${this.name} in body ${message}`));
  }

  wrongType(wanted: string, actual: string): void {
    this.tell(() => {
      const message = `${this.name} in body must be of type ${wanted}: "${actual}"`;
      return fieldError.typeInvalid(this.field, actual, message);
    });
  }

  missing(field: string): void {
    if (this.isFull) return;
    this.enter(field);
    this.tell(() => fieldError.required(this.field));
    this.leave();
  }

  /** What no field alone is to blame for. */
  invalidAsWhole(makeMessage: () => string): void {
    this.tell(() => fieldError.invalid(this.fieldOf(''), '', makeMessage()));
  }

  /** The error of a value that was not compared with all alternatives. */
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
