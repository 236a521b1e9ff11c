import { int64Max } from './int64.js';

/**
 * A resource.Quantity: `100m` CPU, `1.5Gi` of memory, `2e3`. Exact: an integer times a power of ten. Printed in the
 * canonical form of its format: without fraction, with the largest possible suffix.
 *
 *   '1.5Gi' → 1610612736 × 10⁰, binary → '1536Mi'        '0.5' → 5 × 10⁻¹, decimal → '500m'
 */
type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** The smallest unit is nano; smaller amounts are rounded away from zero. */
const exponentMin = -9;
/** Longer texts are rejected. */
const textLengthMax = 256;

const decimalSuffixes = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
const suffixOfExponent = new Map([...decimalSuffixes].map(([suffix, exponent]) => [exponent, suffix]));
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

const badFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const badSuffix = "unable to parse quantity's suffix";

export class Quantity {
  private constructor(
    /** The amount is `digits` × 10^`exponent`; digits have no trailing zeros unless they are zero. */
    private readonly digits: bigint,
    private readonly exponent: number,
    readonly format: QuantityFormat,
  ) {}

  /** Throws QuantityError. */
  static parse(text: string): Quantity {
    const quantity = Quantity.read(text);
    if (typeof quantity === 'string') throw new QuantityError(quantity);
    return quantity;
  }

  /** Returns the quantity, or the error of the text. */
  static read(text: string): Quantity | string {
    const match = text.length > textLengthMax ? null : /^([+-]?)([0-9]*)(?:\.([0-9]*))?(.*)$/s.exec(text);
    if (!match) return badFormat;
    const [, sign, whole = '', fraction = '', suffix = ''] = match;
    if (whole === '' && fraction === '') return badFormat;
    if (!/^[eEinumkKMGTP]*[-+]?[0-9]*$/.test(suffix)) return badFormat;
    const unit = unitOf(suffix);
    if (unit === undefined) return badSuffix;
    const magnitude = BigInt(whole + fraction) * unit.factor;
    const signed = sign === '-' ? -magnitude : magnitude;
    const quantity = Quantity.of(signed, unit.exponent - fraction.length, unit.format);
    return isShort(whole, fraction, unit) ? quantity : quantity.capped();
  }

  static ofInteger(value: number | bigint, format: QuantityFormat = 'DecimalSI'): Quantity {
    return Quantity.of(BigInt(value), 0, format);
  }
  static ofMilli(value: number | bigint, format: QuantityFormat = 'DecimalSI'): Quantity {
    return Quantity.of(BigInt(value), -3, format);
  }

  /** Limits amounts with many digits to the range of int64. */
  private capped(): Quantity {
    if (this.compare(largest) > 0) return new Quantity(int64Max, 0, this.format);
    return this.compare(largest.negate()) < 0 ? new Quantity(-int64Max, 0, this.format) : this;
  }

  private static of(digits: bigint, exponent: number, format: QuantityFormat): Quantity {
    let [amount, power] = trimmed(digits, exponent);
    if (power < exponentMin)
      [amount, power] = trimmed(divideUp(amount, 10n ** BigInt(exponentMin - power)), exponentMin);
    return new Quantity(amount, power, format);
  }

  compare(other: Quantity): -1 | 0 | 1 {
    const [a, b] = this.aligned(other);
    return a < b ? -1 : a > b ? 1 : 0;
  }
  equals(other: Quantity): boolean {
    return this.compare(other) === 0;
  }
  get sign(): -1 | 0 | 1 {
    return this.digits < 0n ? -1 : this.digits > 0n ? 1 : 0;
  }
  get isZero(): boolean {
    return this.digits === 0n;
  }

  /** The result has this format, or the other's if this amount is zero. */
  add(other: Quantity): Quantity {
    const [a, b, exponent] = this.aligned(other);
    return Quantity.of(a + b, exponent, this.isZero ? other.format : this.format);
  }
  subtract(other: Quantity): Quantity {
    return this.add(other.negate());
  }
  negate(): Quantity {
    return new Quantity(-this.digits, this.exponent, this.format);
  }

  /** Returns whole units, rounded up. */
  toInteger(): bigint {
    return this.scaled(0);
  }
  /** Returns thousandths, rounded up, as CPU is counted. */
  toMilli(): bigint {
    return this.scaled(-3);
  }
  toNumber(): number {
    return Number(`${this.digits}e${this.exponent}`);
  }

  toString(): string {
    if (this.isZero) return '0';
    const isBinary = this.format === 'BinarySI' && this.isAtLeast1024();
    if (isBinary) return this.toBinary();
    if (this.format === 'DecimalExponent') {
      const { digits, exponent } = inThrees(this.digits, this.exponent, Infinity);
      return exponent === 0 ? `${digits}` : `${digits}e${exponent}`;
    }
    const { digits, exponent } = inThrees(this.digits, this.exponent, 18);
    return `${digits}${suffixOfExponent.get(exponent)!}`;
  }
  toJSON(): string {
    return this.toString();
  }

  /** Smaller binary amounts, and those with a fraction, are printed in decimal format. */
  private isAtLeast1024(): boolean {
    return this.exponent >= 0 && abs(this.scaled(0)) >= 1024n;
  }

  private toBinary(): string {
    let amount = this.scaled(0);
    let step = 0;
    while (step < binarySuffixes.length - 1 && amount % 1024n === 0n) {
      amount /= 1024n;
      step++;
    }
    return `${amount}${binarySuffixes[step]}`;
  }

  private scaled(exponent: number): bigint {
    const shift = this.exponent - exponent;
    return shift >= 0 ? this.digits * 10n ** BigInt(shift) : divideUp(this.digits, 10n ** BigInt(-shift));
  }

  private aligned(other: Quantity): [bigint, bigint, number] {
    const exponent = Math.min(this.exponent, other.exponent);
    return [this.scaled(exponent), other.scaled(exponent), exponent];
  }
}

const largest = Quantity.ofInteger(int64Max);

const shortQuantity = /^(?:0|[1-9]\d{0,2}(?:[mkMGTP]|[KMGTP]i)?)$/;

/** True for common canonical quantities, `500m` or `4Gi`, which are multiples of a thousandth. */
export function isShortQuantity(text: string): boolean {
  return shortQuantity.test(text);
}

interface Unit {
  readonly factor: bigint;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

function unitOf(suffix: string): Unit | undefined {
  const exponent = decimalSuffixes.get(suffix);
  if (exponent !== undefined) return { factor: 1n, exponent, format: 'DecimalSI' };
  const step = binarySuffixes.indexOf(suffix);
  if (step > 0) return { factor: 1024n ** BigInt(step), exponent: 0, format: 'BinarySI' };
  if (!/^[eE][-+]?[0-9]{1,10}$/.test(suffix)) return undefined;
  const power = Number(suffix.slice(1));
  // Larger exponents give the same result: rounded up to a nano, or down to the maximum.
  return { factor: 1n, exponent: Math.max(-1000, Math.min(1000, power)), format: 'DecimalExponent' };
}

/** True if the digits fit into an int64, so that the amount needs no limit. */
function isShort(whole: string, fraction: string, unit: Unit): boolean {
  const digits = whole.replace(/^0+/, '').length + fraction.length;
  return unit.format === 'BinarySI' ? fraction === '' && abs(BigInt(whole) * unit.factor) <= int64Max : digits <= 18;
}

const abs = (value: bigint): bigint => (value < 0n ? -value : value);

/** Rounds away from zero. */
function divideUp(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value % divisor === 0n ? quotient : value < 0n ? quotient - 1n : quotient + 1n;
}

function trimmed(digits: bigint, exponent: number): [bigint, number] {
  if (digits === 0n) return [0n, 0];
  let amount = digits;
  let power = exponent;
  while (amount % 10n === 0n) {
    amount /= 10n;
    power++;
  }
  return [amount, power];
}

/** Changes the exponent to a multiple of three, for which suffixes exist. */
function inThrees(digits: bigint, exponent: number, max: number): { digits: bigint; exponent: number } {
  const lower = Math.min(max, Math.floor(exponent / 3) * 3);
  return { digits: digits * 10n ** BigInt(exponent - lower), exponent: lower };
}
