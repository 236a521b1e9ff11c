import { Quantity } from '../../../machinery/quantity.js';
import type { Implementation } from '../../check/declarations.js';
import { declare, member, overload } from '../../check/declarations.js';
import { structType, types } from '../../types.js';
import { int64Max, int64Min, int } from '../../values/numbers.js';
import type { Value } from '../../values/value.js';
import { CelError, Double, OpaqueValue, orNoSuchOverload } from '../../values/value.js';
import { spend } from '../../work.js';
import type { Library } from '../library.js';

/** quantity('1.5Gi') and arithmetic with it. */
const { bool, double, string } = types;
export const quantityType = structType('kubernetes.Quantity');

class QuantityValue extends OpaqueValue {
  readonly type = quantityType;
  constructor(
    readonly quantity: Quantity,
    /** True for one with so many digits that the reference does not hold it as an int. */
    readonly isLong: boolean,
  ) {
    super();
  }
  equals(other: Value): Value {
    return other instanceof QuantityValue ? this.quantity.equals(other.quantity) : orNoSuchOverload(other);
  }
  override toString(): string {
    return this.quantity.toString();
  }
}

function parse(text: string): QuantityValue | CelError {
  spend(60);
  const quantity = Quantity.read(text);
  if (typeof quantity === 'string') return new CelError(quantity);
  const digits = /^[+-]?0*([0-9]*)\.?([0-9]*)/.exec(text)!;
  return new QuantityValue(quantity, digits[1]!.length + digits[2]!.length > intDigitsMax);
}

/** Amounts with more digits are held as decimals, which are never ints. */
const intDigitsMax = 18;

/** The amount as an int; undefined if it has a fraction or does not fit. */
function wholeOf({ quantity, isLong }: QuantityValue): bigint | undefined {
  if (isLong) return undefined;
  const whole = quantity.toInteger();
  const isExact = Quantity.ofInteger(whole).equals(quantity);
  return isExact && whole >= int64Min && whole <= int64Max ? whole : undefined;
}

const notInteger = new CelError('cannot convert value to integer');
const ofText =
  (read: (text: string) => Value): Implementation =>
  (value) =>
    typeof value === 'string' ? read(value) : orNoSuchOverload(value);
const ofOne =
  (read: (value: QuantityValue) => Value): Implementation =>
  (value) =>
    value instanceof QuantityValue ? read(value) : orNoSuchOverload(value);
const ofTwo =
  (read: (left: QuantityValue, right: QuantityValue) => Value): Implementation =>
  (left, right) =>
    left instanceof QuantityValue && right instanceof QuantityValue ? read(left, right) : orNoSuchOverload(left);
const withInt =
  (read: (left: QuantityValue, right: QuantityValue) => Value): Implementation =>
  (left, right) =>
    left instanceof QuantityValue
      ? read(left, new QuantityValue(Quantity.ofInteger(right as bigint, 'DecimalExponent'), false))
      : orNoSuchOverload(left);

const sum = (a: QuantityValue, b: QuantityValue): Value =>
  new QuantityValue(a.quantity.add(b.quantity), a.isLong || b.isLong);
const difference = (a: QuantityValue, b: QuantityValue): Value =>
  new QuantityValue(a.quantity.subtract(b.quantity), a.isLong || b.isLong);
const two = [quantityType, quantityType];

export const quantityLibrary: Library = {
  name: 'kubernetes.quantity',
  functions: [
    declare('quantity', overload('string_to_quantity', [string], quantityType, ofText(parse))),
    declare(
      'isQuantity',
      overload(
        'is_quantity_string',
        [string],
        bool,
        ofText((text) => !(parse(text) instanceof CelError)),
      ),
    ),
    // The reference declares sign as a function of one argument, not as a member.
    declare(
      'sign',
      overload(
        'quantity_sign',
        [quantityType],
        types.int,
        ofOne(({ quantity }) => quantity.sign),
      ),
    ),
    declare(
      'isGreaterThan',
      member(
        'quantity_is_greater_than',
        two,
        bool,
        ofTwo((a, b) => a.quantity.compare(b.quantity) === 1),
      ),
    ),
    declare(
      'isLessThan',
      member(
        'quantity_is_less_than',
        two,
        bool,
        ofTwo((a, b) => a.quantity.compare(b.quantity) === -1),
      ),
    ),
    declare(
      'compareTo',
      member(
        'quantity_compare_to',
        two,
        types.int,
        ofTwo((a, b) => a.quantity.compare(b.quantity)),
      ),
    ),
    declare(
      'asApproximateFloat',
      member(
        'quantity_get_float',
        [quantityType],
        double,
        ofOne(({ quantity }) => new Double(quantity.toNumber())),
      ),
    ),
    declare(
      'asInteger',
      member(
        'quantity_get_int',
        [quantityType],
        types.int,
        ofOne((value) => {
          const whole = wholeOf(value);
          return whole === undefined ? notInteger : int(whole);
        }),
      ),
    ),
    declare(
      'isInteger',
      member(
        'quantity_is_integer',
        [quantityType],
        bool,
        ofOne((value) => wholeOf(value) !== undefined),
      ),
    ),
    declare(
      'add',
      member('quantity_add', two, quantityType, ofTwo(sum)),
      member('quantity_add_int', [quantityType, types.int], quantityType, withInt(sum)),
    ),
    declare(
      'sub',
      member('quantity_sub', two, quantityType, ofTwo(difference)),
      member('quantity_sub_int', [quantityType, types.int], quantityType, withInt(difference)),
    ),
  ],
};
