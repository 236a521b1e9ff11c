import { quotedCharactersMax } from './go-quote.js';
import { atOnce } from '../std/steps.js';
import {
  boundedErrors,
  boundedErrorsInSteps,
  firstErrors,
  isCutShort,
  uncountedErrors,
  validationErrorsMax,
} from './error-budget.js';
import { fieldError, type FieldError } from './field-error.js';

const repeated = (count: number, value: unknown = 'x'): FieldError[] =>
  Array.from({ length: count }, (_, index) => fieldError.invalid(`spec.items[${index}]`, value, 'is wrong'));

describe('validation error budget', () => {
  it.each([
    { name: 'none', made: 0, told: 0, cut: false },
    { name: 'validationErrorsMax', made: validationErrorsMax, told: validationErrorsMax, cut: false },
    { name: 'validationErrorsMax + 1', made: validationErrorsMax + 1, told: validationErrorsMax + 1, cut: true },
    { name: 'a million', made: 1_000_000, told: validationErrorsMax + 1, cut: true },
  ])('$name: returns $told errors', ({ made, told, cut }) => {
    const errors = boundedErrors(() => repeated(made));
    expect(errors).toHaveLength(told);
    expect(isCutShort(errors)).toBe(cut);
    if (made > 0) expect(errors[0]!.field).toBe('spec.items[0]');
  });

  it('firstErrors() truncates a list created without a budget', () => {
    const few = repeated(validationErrorsMax + 1);
    expect(firstErrors(few)).toBe(few);
    const cut = firstErrors(repeated(100_000));
    expect([cut.length, isCutShort(cut)]).toEqual([validationErrorsMax + 1, true]);
  });

  it('stops validation at the limit', () => {
    let steps = 0;
    boundedErrors(() =>
      Array.from({ length: 100_000 }, () => {
        steps++;
        return fieldError.required('spec.name');
      }),
    );
    expect(steps).toBe(validationErrorsMax + 1);
  });

  it('stops validation when errors quote large values, which are shortened', () => {
    const large = 'y'.repeat(3_000_000);
    expect(boundedErrors(() => repeated(1, large))[0]!.detail).toContain('y'.repeat(quotedCharactersMax));
    expect(boundedErrors(() => repeated(10, large))).toHaveLength(10);
    expect(boundedErrors(() => repeated(100, large))).toHaveLength(17);
  });

  it('does not count errors within uncountedErrors(), and counts again after it', () => {
    const errors = boundedErrors(() => {
      expect(uncountedErrors(() => repeated(5_000))).toHaveLength(5_000);
      return repeated(2);
    });
    expect(errors).toHaveLength(2);
    expect(boundedErrors(() => (uncountedErrors(() => repeated(1)), repeated(5_000)))).toHaveLength(
      validationErrorsMax + 1,
    );
  });

  it('nested validations have separate budgets', () => {
    const errors = boundedErrors(() => [...boundedErrors(() => repeated(600)), ...repeated(600)]);
    expect(errors).toHaveLength(1_200);
    expect(isCutShort(errors)).toBe(false);
  });

  it('rethrows other errors, and counts nothing afterwards', () => {
    const failing = () => {
      throw new TypeError('ours');
    };
    expect(() => boundedErrors(failing)).toThrow('ours');
    expect(repeated(validationErrorsMax + 5)).toHaveLength(validationErrorsMax + 5);
  });

  it('counts errors of a validation in steps, without those created by others in between', () => {
    const validation = function* (errors: number) {
      const first = repeated(errors);
      yield;
      return [...first, ...repeated(errors)];
    };
    expect(atOnce(boundedErrorsInSteps(validation(300)))).toHaveLength(600);
    expect(isCutShort(atOnce(boundedErrorsInSteps(validation(600))) as FieldError[])).toBe(true);

    const [one, other] = [boundedErrorsInSteps(validation(500)), boundedErrorsInSteps(validation(500))];
    for (const steps of [one, other]) expect(steps.next().done).toBe(false);
    expect(repeated(validationErrorsMax + 5)).toHaveLength(validationErrorsMax + 5);
    for (const steps of [one, other]) expect(steps.next().value).toHaveLength(1_000);
  });
});
