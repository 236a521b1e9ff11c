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

/** What is wrong with a value, and where the walk through it is. Paths are made only for what is wrong. */
export class ValueWalk {
  errors: FieldError[] = [];
  /** How much of the value was as asked: of several alternatives the one that nearly fits explains most. */
  matches = 0;
  readonly matching = new MatchingBudget();
  private readonly steps: (string | number)[] = [];
  /** About as long as the path is. */
  private pathLength = 0;
  private madeCharacters = 0;

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
    const { length } = this.errors;
    return length >= errorsMax || length * this.pathLength > pathCharactersMax || this.isSpent;
  }

  /** More was found wrong than can be told of: what was told may not be all. */
  get isSpent(): boolean {
    return this.madeCharacters > madeCharactersMax;
  }

  tell(error: FieldError): void {
    if (this.isFull) return;
    this.madeCharacters += this.pathLength;
    this.errors.push(error);
  }

  invalid(value: unknown, message: string): void {
    if (this.isFull) return;
    this.tell(fieldError.invalid(this.field, value, `${this.name} in body ${message}`));
  }

  wrongType(wanted: string, actual: string): void {
    if (this.isFull) return;
    const message = `${this.name} in body must be of type ${wanted}: "${actual}"`;
    this.tell(fieldError.typeInvalid(this.field, actual, message));
  }

  missing(field: string): void {
    if (this.isFull) return;
    this.enter(field);
    this.tell(fieldError.required(this.field));
    this.leave();
  }

  /** What no field alone is to blame for. */
  invalidAsWhole(message: string): void {
    this.tell(fieldError.invalid(this.fieldOf(''), '', message));
  }

  private fieldOf(name: string): string {
    const inside = name.startsWith('.') ? name.slice(1) : name;
    if (this.at === '') return inside === '' ? wholeObject : inside;
    return inside === '' ? this.at : `${this.at}.${inside}`;
  }
}

const lengthOf = (step: string | number): number => (typeof step === 'string' ? step.length : 1);
