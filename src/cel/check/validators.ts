import type { Message, Source } from '../source.js';
import type { Expr } from '../syntax/ast.js';
import { childrenOf, matching } from '../syntax/ast.js';
import type { CelType } from '../types.js';
import { formatType, types } from '../types.js';
import { convert } from '../values/conversions.js';
import { CelError } from '../values/value.js';
import type { Checked } from './checker.js';

/** Looks for mistakes in an expression that has no others. */
export type Validator = (checked: Checked, report: Report, exempt: ReadonlySet<string>) => void;
type Report = (expr: Expr, message: Message) => void;

export function validate(source: Source, checked: Checked, validators: readonly Validator[]): void {
  const report: Report = (expr, message) => source.report(checked.offsets[expr.id]!, message);
  for (const validator of validators) validator(checked, report, exemptFunctions);
}
/** Lists and maps in the arguments of these may hold values of several types. */
const exemptFunctions: ReadonlySet<string> = new Set(['format']);

/** Checks the first argument of all calls of a function, where it is a literal. */
export function literalValidator(
  fn: string,
  isValid: (value: Extract<Expr, { kind: 'literal' }>['value']) => boolean,
): Validator {
  return ({ expr }, report) => {
    for (const call of matching(expr, (found) => found.kind === 'call' && found.fn === fn)) {
      const arg = call.kind === 'call' ? call.args[0] : undefined;
      if (arg?.kind === 'literal' && !isValid(arg.value)) report(arg, `invalid ${fn} argument`);
    }
  };
}

export const durationValidator = literalValidator(
  'duration',
  (value) => !(convert(value, types.duration) instanceof CelError),
);
export const timestampValidator = literalValidator(
  'timestamp',
  (value) => !(convert(value, types.timestamp) instanceof CelError),
);

/** Refuses literals of lists and maps whose elements are not all of one type. */
export const homogeneousValidator: Validator = ({ expr, types: typesById }, report, exempt) => {
  const typeOf = (of: Expr, isOptional: boolean): CelType => {
    const type = typesById[of.id]!;
    return isOptional ? (type.params[0] ?? type) : type;
  };
  const mismatch = (at: Expr, expected: CelType, actual: CelType): void =>
    report(at, () => `expected type '${formatType(expected)}' but found '${formatType(actual)}'`);
  const visit = (at: Expr): void => {
    if (at.kind === 'list') {
      const optionals = new Set(at.optionals);
      const all = at.elements.map((element, index) => typeOf(element, optionals.has(index)));
      const wrong = all.findIndex((type) => !all[0]!.equals(type, false));
      if (wrong > 0) mismatch(at.elements[wrong]!, all[0]!, all[wrong]!);
    } else if (at.kind === 'map' && at.entries.length > 0) {
      const [first] = at.entries;
      const [keyType, valueType] = [typeOf(first!.key, false), typeOf(first!.value, first!.isOptional)];
      for (const { key, value, isOptional } of at.entries) {
        if (!keyType.equals(typeOf(key, false), false)) mismatch(key, keyType, typeOf(key, false));
        const actual = typeOf(value, isOptional);
        if (!valueType.equals(actual, false)) mismatch(value, valueType, actual);
      }
    }
    if (at.kind === 'call' && exempt.has(at.fn)) return;
    for (const child of childrenOf(at)) visit(child);
  };
  visit(expr);
};
